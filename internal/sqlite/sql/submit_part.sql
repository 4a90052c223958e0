-- seqlease submit_part (L1): hides the entries of this run of ids
INSERT INTO upload_part (first_entry_id, last_entry_id, upload_id) VALUES (@first_entry_id, @last_entry_id, @upload_id)
