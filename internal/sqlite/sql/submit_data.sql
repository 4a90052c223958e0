-- seqlease submit_data (L1): see submit_entries
WITH r (id, dictionary_id, body) AS (VALUES @rows)
INSERT INTO submitted (entry_id, revision, dictionary_id, body)
SELECT r.id, 1, r.dictionary_id, r.body
FROM r
WHERE r.id IS NOT NULL
