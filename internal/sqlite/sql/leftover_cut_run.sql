-- seqlease leftover_cut_run (L1)
UPDATE upload_run SET last_entry_id = @first_entry_id - 1 WHERE upload_id = @upload_id AND last_entry_id = @last_entry_id
