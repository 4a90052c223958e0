-- seqlease revoke (L10, L11): a revocation after each of the locked entries that still is the highest version, is released and is of the organism, all with one instant
INSERT INTO entry (id, version, group_id, dictionary_id, submitted_at, organism_id, is_revocation, accession, submission_id, submitter, submitted)
SELECT nextval('entry_id'), e.version + 1, e.group_id, @dictionary::bigint, (SELECT clock_timestamp()), e.organism_id, true, e.accession,
    e.submission_id, @user::text, @submitted::bytea
FROM (SELECT id FROM unnest(@ids::bigint[]) AS k (id) ORDER BY id OFFSET 0) AS k
-- By the key alone: statistics may say that nothing is released, and then the index
-- of what is looks better than it.
CROSS JOIN LATERAL (
    SELECT version, group_id, organism_id, accession, submission_id, released_at FROM entry WHERE id = k.id OFFSET 0
) AS e
WHERE e.organism_id = @organism::int AND e.released_at IS NOT NULL
    AND NOT EXISTS (SELECT FROM entry AS newer WHERE newer.accession = e.accession AND newer.version > e.version OFFSET 0)
RETURNING accession, version, submission_id
