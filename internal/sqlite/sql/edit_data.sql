-- seqlease edit_data (L10)
INSERT INTO submitted (entry_id, revision, dictionary_id, body) VALUES (@entry_id, @revision, @dictionary_id, @body)
