-- seqlease note_refusals (L5): refused lines as failures of the entries that a running lease of the attempt holds; an entry that is being edited or deleted is left out
-- A line that was refused before its attempt was known may be of any attempt of the user.
WITH line AS MATERIALIZED (
    SELECT l.n, l.attempt_id, l.reason, e.id AS entry_id
    FROM unnest(@attempts::uuid[], @accessions::text[], @versions::bigint[], @reasons::text[])
        WITH ORDINALITY AS l (attempt_id, accession, version, reason, n)
    CROSS JOIN LATERAL (
        SELECT id FROM entry WHERE accession = l.accession AND version = l.version AND organism_id IS NOT DISTINCT FROM @organism::int
        OFFSET 0 FOR KEY SHARE SKIP LOCKED
    ) AS e
),
held AS MATERIALIZED (
    SELECT l.attempt_id, l.worker_id, l.claimed_by, p.entry_id, p.revision
    FROM lease AS l, unnest(l.entry_ids, l.revisions) AS p (entry_id, revision)
    WHERE l.organism_id = @organism AND l.pipeline_version = @version::bigint AND l.claimed_by = @claimed_by::text AND l.lease_until > now()
)
INSERT INTO failure (entry_id, pipeline_version, organism_id, revision, attempt_id, kind, counted, worker_id, claimed_by, reason)
SELECT h.entry_id, @version, @organism, h.revision, h.attempt_id, 4, false, h.worker_id, h.claimed_by, l.reason
FROM line AS l JOIN held AS h ON h.entry_id = l.entry_id AND (l.attempt_id IS NULL OR l.attempt_id = h.attempt_id)
WHERE (SELECT count(*) FROM failure WHERE entry_id = h.entry_id AND attempt_id = h.attempt_id AND kind = 4) < @refusals::int
ORDER BY l.n
