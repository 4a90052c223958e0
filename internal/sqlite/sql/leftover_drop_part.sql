-- seqlease leftover_drop_part (L1)
DELETE FROM upload_part WHERE first_entry_id = @first_entry_id
