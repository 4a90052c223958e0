-- seqlease empty_entry (L1, L10): but for those of uploads under way
DELETE FROM entry
WHERE NOT EXISTS (SELECT 1 FROM upload_run AS u WHERE entry.id BETWEEN u.first_entry_id AND u.last_entry_id)
