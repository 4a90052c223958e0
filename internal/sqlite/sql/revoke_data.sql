-- seqlease revoke_data: the same data for each of the revocations
INSERT INTO submitted (entry_id, revision, dictionary_id, body)
SELECT e.id, e.revision, @dictionary_id, @body FROM entry AS e WHERE e.id BETWEEN @first_entry_id AND @last_entry_id
