-- seqlease requeue_results (L9): the results that only said why the entries were in quarantine
DELETE FROM result
WHERE (pipeline_version, entry_id) IN (SELECT p.value ->> 0, p.value ->> 1 FROM json_each(@places) AS p)
  AND attempt_id = (SELECT q.attempt_id FROM quarantine AS q
                    WHERE q.pipeline_version = result.pipeline_version AND q.entry_id = result.entry_id)
