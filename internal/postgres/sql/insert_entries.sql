-- seqlease insert_entries (L1): a chunk of an upload, with data use terms
WITH fresh AS MATERIALIZED (
    SELECT id, accession, submission_id, dictionary_id, submitted
    FROM unnest(@ids::bigint[], @accessions::text[], @submission_ids::text[], @dictionaries::bigint[], @submitted::bytea[])
        AS f (id, accession, submission_id, dictionary_id, submitted)
),
made AS (
    INSERT INTO entry (id, organism_id, accession, version, group_id, submitter, submission_id, dictionary_id, submitted)
    SELECT id, @organism::int, accession, 1, @group_id::bigint, @submitter::text, submission_id, dictionary_id, submitted
    FROM fresh ORDER BY id
)
INSERT INTO data_use_terms (accession, restricted, restricted_until, user_name)
SELECT accession, @restricted::boolean, @restricted_until::date, @submitter FROM fresh ORDER BY id
