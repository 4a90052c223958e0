-- bench insert_race_accept: one result; nothing tells whose it is
WITH stored AS (
    UPDATE processing AS p SET status = 'PROCESSED', finished_at = now(), outcome = 0, body = ($3::bytea[])[1]
    WHERE p.accession = ($2::text[])[1] AND p.version = 1 AND p.pipeline_version = 1
        AND p.status = 'IN_PROCESSING' AND $1::uuid IS NOT NULL
    RETURNING 1
)
SELECT count(*) FROM stored
