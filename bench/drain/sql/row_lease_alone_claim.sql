-- bench row_lease_alone_claim: what waits, and else what a lease that has ended holds; the batch size is no argument, so that the plan that is kept is one for it
WITH waiting AS MATERIALIZED (
    SELECT accession, version FROM processing
    WHERE pipeline_version = 1 AND status = 'RECEIVED'
    ORDER BY queue_order LIMIT 100 FOR UPDATE SKIP LOCKED
),
ended AS MATERIALIZED (
    SELECT accession, version FROM processing
    WHERE pipeline_version = 1 AND status = 'IN_PROCESSING' AND lease_until < now()
    ORDER BY lease_until LIMIT (SELECT 100 - count(*) FROM waiting) FOR UPDATE SKIP LOCKED
),
held AS (
    UPDATE processing AS p
    SET status = 'IN_PROCESSING', attempts = p.attempts + 1, attempt_id = $1, started_at = now(), lease_until = now() + interval '1 hour'
    FROM (SELECT accession, version FROM waiting UNION ALL SELECT accession, version FROM ended) AS h
    WHERE p.accession = h.accession AND p.version = h.version AND p.pipeline_version = 1
    RETURNING p.accession, p.version
)
SELECT held.accession, e.document FROM held JOIN entry AS e ON e.accession = held.accession AND e.version = held.version
