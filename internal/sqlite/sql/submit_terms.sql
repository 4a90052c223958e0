-- seqlease submit_terms (L1): see submit_entries
INSERT INTO data_use_terms (accession, change_number, changed_at, changed_by, terms, restricted_until)
SELECT e.accession, 1, e.submitted_at, e.submitter, @terms, @restricted_until
FROM entry AS e
WHERE e.id BETWEEN @first_entry_id AND @last_entry_id
