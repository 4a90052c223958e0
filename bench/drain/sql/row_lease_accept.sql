-- bench row_lease_accept: all of them, if the attempt holds them all and its lease runs; else the division fails
WITH stored AS (
    UPDATE processing AS p SET status = 'PROCESSED', finished_at = now(), outcome = 0, body = l.body
    FROM unnest($2::text[], $3::bytea[]) AS l (accession, body)
    WHERE p.accession = l.accession AND p.version = 1 AND p.pipeline_version = 1
        AND p.attempt_id = $1 AND p.status = 'IN_PROCESSING' AND p.lease_until > clock_timestamp()
    RETURNING 1
)
SELECT count(*) / (count(*) = cardinality($2))::int FROM stored
