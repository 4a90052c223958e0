-- seqlease deletion_failures (L10): as deletion_data
DELETE FROM failure
WHERE id IN (
    SELECT f.id
    FROM upload_run AS n
    CROSS JOIN failure AS f ON f.entry_id BETWEEN n.first_entry_id AND n.last_entry_id
    WHERE n.upload_id = @upload_id AND n.first_entry_id BETWEEN @first_entry_id AND @last_entry_id)
