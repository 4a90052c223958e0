-- seqlease bench_pgboss_open (jobs that aren't completed)
SELECT count(*) FROM pgboss.job WHERE name = 'entry' AND state <> 'completed'
