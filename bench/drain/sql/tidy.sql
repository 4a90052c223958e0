-- bench tidy: what autovacuum would do at some moment
VACUUM ANALYZE
