-- seqlease retire_quarantine (V7)
DELETE FROM quarantine
WHERE (pipeline_version, entry_id) IN (
    SELECT q.pipeline_version, q.entry_id FROM quarantine AS q
    WHERE q.organism_id = @organism_id AND q.pipeline_version = @pipeline_version
    ORDER BY q.entry_id LIMIT @limit)
