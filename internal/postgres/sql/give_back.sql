-- seqlease give_back (L8): ends an attempt's running lease and makes its entries wait again
WITH held AS MATERIALIZED (
    SELECT part, lease_until FROM lease WHERE attempt_id = @attempt::uuid ORDER BY part FOR UPDATE
),
gone AS MATERIALIZED (
    DELETE FROM lease
    WHERE attempt_id = @attempt AND part IN (SELECT part FROM held WHERE @undelivered::boolean OR lease_until > clock_timestamp())
    RETURNING organism_id, pipeline_version, entry_ids, attempts, hand_outs
),
back AS MATERIALIZED (
    INSERT INTO ticket (organism_id, pipeline_version, entry_id, attempts, hand_outs)
    SELECT g.organism_id, g.pipeline_version, e.entry_id,
        CASE WHEN @counts::boolean THEN e.attempts ELSE greatest(e.attempts - 1, 0) END, e.hand_outs
    FROM gone AS g, unnest(g.entry_ids, g.attempts, g.hand_outs) AS e (entry_id, attempts, hand_outs)
    ORDER BY e.entry_id
    ON CONFLICT DO NOTHING
    RETURNING organism_id, pipeline_version, entry_id
),
bump AS (
    UPDATE change SET n = n + 1, nonce = (random() * 9e18)::bigint
    WHERE (organism_id, scope) IN (SELECT organism_id, pipeline_version FROM back) AND bucket = pg_backend_pid() % 16
)
SELECT count(*) AS entries, coalesce(min(organism_id), 0) AS organism_id, coalesce(min(pipeline_version), 0) AS pipeline_version,
    coalesce(min(entry_id), 0) AS first
FROM back
