-- seqlease bench_store_result (one result, by the worker)
INSERT INTO bench_result (job_id, body) VALUES ($1, $2)
