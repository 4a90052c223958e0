-- bench row_lease_fill
WITH submitted AS (
    INSERT INTO entry (accession, version, organism, group_id, submitter, submission_id, document)
    SELECT 'R_' || lpad(n::text, 9, '0'), 1, 'benchvirus', 1, 'anna', n::text, document
    FROM unnest($1::bigint[], $2::bytea[]) AS d (n, document)
    RETURNING accession, version
)
INSERT INTO processing (accession, version, pipeline_version)
SELECT accession, version, 1 FROM submitted
