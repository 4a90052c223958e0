-- seqlease deletion_edited (L10): as deletion_data
DELETE FROM edited
WHERE (entry_id, attempt_id) IN (
    SELECT x.entry_id, x.attempt_id
    FROM upload_run AS n
    CROSS JOIN edited AS x ON x.entry_id BETWEEN n.first_entry_id AND n.last_entry_id
    WHERE n.upload_id = @upload_id AND n.first_entry_id BETWEEN @first_entry_id AND @last_entry_id)
