-- seqlease bench_river_open (jobs that aren't completed)
SELECT count(*) FROM river_job WHERE state <> 'completed'
