-- seqlease deletion_quarantine (L9, L10): as deletion_results
DELETE FROM quarantine
WHERE (pipeline_version, entry_id) IN (
    SELECT q.pipeline_version, q.entry_id
    FROM pipeline_version AS p
    CROSS JOIN upload_run AS n
    CROSS JOIN quarantine AS q ON q.pipeline_version = p.version AND q.entry_id BETWEEN n.first_entry_id AND n.last_entry_id
    WHERE p.organism_id = @organism_id AND n.upload_id = @upload_id AND n.first_entry_id BETWEEN @first_entry_id AND @last_entry_id)
