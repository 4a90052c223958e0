-- seqlease empty_submitted (L1, L10): but for those of uploads under way, which come after it
DELETE FROM submitted
WHERE NOT EXISTS (SELECT 1 FROM upload_run AS u WHERE submitted.entry_id BETWEEN u.first_entry_id AND u.last_entry_id)
