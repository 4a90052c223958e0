-- seqlease submit_insert_run (L1): hides the entries of a part that other ids come before
INSERT INTO upload_run (first_entry_id, last_entry_id, upload_id) VALUES (@first_entry_id, @last_entry_id, @upload_id)
