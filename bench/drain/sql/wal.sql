-- bench wal: bytes of log so far
SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint
