-- seqlease deletion_results (L10): the results of a part
DELETE FROM result
WHERE rowid IN (
    SELECT r.rowid
    FROM pipeline_version AS p
    CROSS JOIN upload_run AS n
    CROSS JOIN result AS r ON r.pipeline_version = p.version AND r.entry_id BETWEEN n.first_entry_id AND n.last_entry_id
    WHERE p.organism_id = @organism_id AND n.upload_id = @upload_id AND n.first_entry_id BETWEEN @first_entry_id AND @last_entry_id)
