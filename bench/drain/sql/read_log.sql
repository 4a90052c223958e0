-- bench read_log: what the server logged since the byte
SELECT pg_read_file(pg_current_logfile(), $1::bigint, 100000000)
