-- seqlease deletion_keep_runs (L10, L17): the pieces that others wait in, [[pipeline version, first entry id, last, rank],…]
INSERT INTO ticket_run (pipeline_version, first_entry_id, last_entry_id, organism_id, rank)
SELECT r.value ->> 0, r.value ->> 1, r.value ->> 2, @organism_id, r.value ->> 3 FROM json_each(@ticket_runs) AS r
