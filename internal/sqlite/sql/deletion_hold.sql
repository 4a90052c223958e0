-- seqlease deletion_hold (L10): from here on no ticket comes to the entries of these runs, [[first entry id, last],…]
INSERT INTO upload_run (first_entry_id, last_entry_id, upload_id)
SELECT r.value ->> 0, r.value ->> 1, @upload_id FROM json_each(@runs) AS r
