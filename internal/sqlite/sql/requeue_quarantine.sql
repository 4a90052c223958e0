-- seqlease requeue_quarantine (L9)
DELETE FROM quarantine
WHERE (pipeline_version, entry_id) IN (SELECT p.value ->> 0, p.value ->> 1 FROM json_each(@places) AS p)
