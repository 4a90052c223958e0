-- seqlease bench_store_results (results of tasks that share a statement)
INSERT INTO bench_result (job_id, body) SELECT job_id, $2 FROM unnest($1::text[]) AS t (job_id)
