-- seqlease submit_data (L1): see submit_entries
INSERT INTO submitted (entry_id, revision, dictionary_id, body)
SELECT @first_entry_id + key, 1, @dictionary_id, substr(@bodies, value ->> 2, value ->> 3)
FROM json_each(@entries)
