-- seqlease deletion_entries (L10): the entries of a part; data use terms belong to the accession and stay
DELETE FROM entry
WHERE id IN (
    SELECT e.id
    FROM upload_run AS n
    CROSS JOIN entry AS e ON e.id BETWEEN n.first_entry_id AND n.last_entry_id
    WHERE n.upload_id = @upload_id AND n.first_entry_id BETWEEN @first_entry_id AND @last_entry_id)
