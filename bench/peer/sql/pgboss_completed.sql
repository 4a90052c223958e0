-- seqlease bench_pgboss_completed (jobs completed with their output on the row)
SELECT count(*) FROM pgboss.job WHERE name = 'entry' AND state = 'completed' AND octet_length(output ->> 'text') = $1
