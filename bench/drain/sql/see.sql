-- bench see: fails unless the transaction still has a snapshot of its own
SELECT count(*) / (count(*) = 1)::int FROM pg_stat_activity WHERE pid = pg_backend_pid() AND backend_xmin IS NOT NULL
