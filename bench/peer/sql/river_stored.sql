-- seqlease bench_river_stored (jobs completed whose result is stored)
SELECT count(*)
FROM river_job AS j JOIN bench_result AS r ON r.job_id = j.id::text
WHERE j.state = 'completed' AND octet_length(r.body) = $1
