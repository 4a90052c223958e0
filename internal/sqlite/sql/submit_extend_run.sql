-- seqlease submit_extend_run (L1): hides the entries of a part that follows the one before it
UPDATE upload_run SET last_entry_id = @last_entry_id WHERE upload_id = @upload_id AND last_entry_id = @first_entry_id - 1
