-- bench claim_cost: what the claims of this database took so far
SELECT coalesce(sum(calls), 0)::bigint, coalesce(sum(shared_blks_hit + shared_blks_read), 0)::bigint,
    coalesce(sum(wal_bytes), 0)::bigint, coalesce(sum(total_exec_time), 0)::float8
FROM pg_stat_statements
WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND query LIKE '-- seqlease claim (%'
