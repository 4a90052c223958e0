-- bench log_size
SELECT size FROM pg_stat_file(pg_current_logfile())
