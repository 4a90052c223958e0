-- seqlease bench_result_table (where peers' workers put results that they store themselves)
CREATE TABLE bench_result (job_id text PRIMARY KEY, body bytea NOT NULL)
