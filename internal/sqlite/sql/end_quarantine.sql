-- seqlease end_quarantine (L9): entries, [[pipeline version, entry id, …],…], that a result was accepted of or that are to be tried anew
DELETE FROM quarantine
WHERE (pipeline_version, entry_id) IN (SELECT p.value ->> 0, p.value ->> 1 FROM json_each(@places) AS p)
