-- seqlease deletion_changed (L10): entries that were edited or released since the deletion holds them
SELECT entry_id FROM changed_entry WHERE upload_id = @upload_id ORDER BY entry_id LIMIT @limit
