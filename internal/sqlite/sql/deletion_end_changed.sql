-- seqlease deletion_end_changed (L10)
DELETE FROM changed_entry WHERE upload_id = @upload_id
