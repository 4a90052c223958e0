-- bench row_lease_claim: what waits or is held by a lease that has ended; the batch size is no argument, so that the plan that is kept is one for it
WITH head AS MATERIALIZED (
    SELECT accession, version FROM processing
    WHERE pipeline_version = 1 AND status <> 'PROCESSED' AND (status = 'RECEIVED' OR lease_until < now())
    ORDER BY accession, version LIMIT 100 FOR UPDATE SKIP LOCKED
),
held AS (
    UPDATE processing AS p
    SET status = 'IN_PROCESSING', attempts = p.attempts + 1, attempt_id = $1, started_at = now(), lease_until = now() + interval '1 hour'
    FROM head AS h
    WHERE p.accession = h.accession AND p.version = h.version AND p.pipeline_version = 1
    RETURNING p.accession, p.version
)
SELECT held.accession, e.document FROM held JOIN entry AS e ON e.accession = held.accession AND e.version = held.version
