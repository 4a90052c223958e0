-- seqlease insert_entries (L1, L17): a chunk of an upload, with data use terms and a ticket for each live pipeline version
WITH fresh AS MATERIALIZED (
    SELECT n, id, accession, submission_id, dictionary_id, submitted
    FROM unnest(@ids::bigint[], @accessions::text[], @submission_ids::text[], @dictionaries::bigint[], @submitted::bytea[])
        WITH ORDINALITY AS f (id, accession, submission_id, dictionary_id, submitted, n)
),
made AS (
    INSERT INTO entry (id, organism_id, accession, version, group_id, submitter, submission_id, dictionary_id, submitted)
    SELECT id, @organism::int, accession, 1, @group_id::bigint, @submitter::text, submission_id, dictionary_id, submitted
    FROM fresh ORDER BY id
),
terms AS (
    INSERT INTO data_use_terms (accession, restricted, restricted_until, user_name)
    SELECT accession, @restricted::boolean, @restricted_until::date, @submitter FROM fresh ORDER BY id
),
reserved AS MATERIALIZED (
    SELECT version, before FROM unnest(@rank_versions::bigint[], @ranks::bigint[]) AS r (version, before)
)
-- A version that was registered after the ranks were reserved takes those of another.
INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id)
SELECT @organism, pv.version, 0, coalesce(r.before, (SELECT max(before) FROM reserved)) + fresh.n, fresh.id
FROM organism AS o
JOIN pipeline_version AS pv ON pv.organism_id = o.id AND pv.version >= o.current_version
LEFT JOIN reserved AS r ON r.version = pv.version
CROSS JOIN fresh
WHERE o.id = @organism
ORDER BY pv.version, fresh.id
