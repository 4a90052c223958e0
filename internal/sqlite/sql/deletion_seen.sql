-- seqlease deletion_seen (L10): the first of deletion_changed, up to this one
DELETE FROM changed_entry WHERE upload_id = @upload_id AND entry_id <= @last_entry_id
