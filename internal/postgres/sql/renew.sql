-- seqlease renew (L7, L11): moves the end of a running lease; the clock is read after the lease rows are locked
WITH held AS MATERIALIZED (
    SELECT part, pipeline_version, lease_until, lease_seconds, cardinality(entry_ids) AS entries
    FROM lease
    WHERE attempt_id = @attempt::uuid AND organism_id = @organism::int AND claimed_by = @claimed_by::text
    ORDER BY part FOR UPDATE
),
clock AS MATERIALIZED (
    SELECT clock_timestamp() AS at FROM (SELECT count(*) FROM held) AS locked
),
renewed AS MATERIALIZED (
    SELECT h.part, h.pipeline_version, h.entries, h.lease_until, s.seconds, clock.at + s.seconds * interval '1 second' AS until
    FROM held AS h
    CROSS JOIN clock
    CROSS JOIN LATERAL (SELECT CASE WHEN @seconds::int > 0 THEN @seconds ELSE h.lease_seconds END AS seconds) AS s
    WHERE h.lease_until > clock.at
),
moved AS (
    UPDATE lease AS l SET lease_until = r.until FROM renewed AS r WHERE l.attempt_id = @attempt AND l.part = r.part
),
-- Whoever saw when the first lease ends must not trust it any longer.
bump AS (
    UPDATE change SET n = n + 1, nonce = (random() * 9e18)::bigint
    WHERE organism_id = @organism AND scope = (SELECT min(pipeline_version) FROM renewed WHERE until < lease_until) AND bucket = pg_backend_pid() % 16
)
SELECT coalesce(sum(entries), 0) AS entries, max(until) AS until, coalesce(max(seconds), 0) AS seconds FROM renewed
