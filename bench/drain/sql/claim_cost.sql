-- bench claim_cost: what claims, those of them by the general statement, and acceptances took in this database so far
SELECT coalesce(sum(calls) FILTER (WHERE claims), 0)::bigint, coalesce(sum(buffers) FILTER (WHERE claims), 0)::bigint,
    coalesce(sum(total_exec_time) FILTER (WHERE claims), 0)::float8,
    coalesce(sum(calls) FILTER (WHERE general), 0)::bigint, coalesce(sum(total_exec_time) FILTER (WHERE general), 0)::float8,
    coalesce(sum(calls) FILTER (WHERE accepts), 0)::bigint, coalesce(sum(buffers) FILTER (WHERE accepts), 0)::bigint
FROM (
    SELECT calls, shared_blks_hit + shared_blks_read AS buffers, total_exec_time,
        query ~ '^-- seqlease claim(_fresh)? [(]' AS claims, query ~ '^-- seqlease claim [(]' AS general,
        query ~ '^-- seqlease accept_(first|results) [(]' AS accepts
    FROM pg_stat_statements
    WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
) AS s
