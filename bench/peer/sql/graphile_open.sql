-- seqlease bench_graphile_open (jobs that aren't completed: those that are, are gone)
SELECT count(*) FROM graphile_worker.jobs
