-- seqlease published_runs (L1): where tickets count
SELECT after_id, before_id FROM published_run ORDER BY after_id
