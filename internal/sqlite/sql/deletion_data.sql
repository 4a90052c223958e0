-- seqlease deletion_data (L10): what was submitted with a part
DELETE FROM submitted
WHERE (entry_id, revision) IN (
    SELECT d.entry_id, d.revision
    FROM upload_run AS n
    CROSS JOIN submitted AS d ON d.entry_id BETWEEN n.first_entry_id AND n.last_entry_id
    WHERE n.upload_id = @upload_id AND n.first_entry_id BETWEEN @first_entry_id AND @last_entry_id)
