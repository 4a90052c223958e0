-- seqlease deletion_cut_runs (L10): these runs of tickets, [[pipeline version, first entry id, …],…], fall to pieces
DELETE FROM ticket_run
WHERE (pipeline_version, first_entry_id) IN (SELECT r.value ->> 0, r.value ->> 1 FROM json_each(@ticket_runs) AS r)
