-- seqlease bench_graphile_stored (results stored of jobs that are gone, as completed ones are)
SELECT count(*)
FROM bench_result AS r
WHERE octet_length(r.body) = $1 AND NOT EXISTS (SELECT 1 FROM graphile_worker.jobs AS j WHERE j.id::text = r.job_id)
