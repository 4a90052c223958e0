-- seqlease leftover_drop_run (L1): a run without entries is none
DELETE FROM upload_run WHERE upload_id = @upload_id AND last_entry_id < first_entry_id
