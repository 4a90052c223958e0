-- bench row_lease_alone_fill
WITH submitted AS (
    INSERT INTO entry (accession, version, organism, group_id, submitter, submission_id, document)
    SELECT 'R_' || lpad(n::text, 9, '0'), 1, 'benchvirus', 1, 'anna', n::text, document
    FROM unnest($1::bigint[], $2::bytea[]) AS d (n, document)
    RETURNING accession, version, submission_id
)
INSERT INTO processing (accession, version, pipeline_version, queue_order)
SELECT accession, version, 1, submission_id::bigint FROM submitted
