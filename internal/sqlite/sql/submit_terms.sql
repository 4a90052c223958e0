-- seqlease submit_terms (L1): see submit_entries
INSERT INTO data_use_terms (accession, change_number, changed_at, changed_by, terms, restricted_until)
SELECT value ->> 0, 1, @started_at, @submitter, @terms, @restricted_until
FROM json_each(@entries)
