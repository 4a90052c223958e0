-- seqlease deletion_withdraw_runs (L10): the pieces that the deletion takes, as deletion_keep_runs
INSERT INTO withdrawn_run (pipeline_version, first_entry_id, last_entry_id, organism_id, rank, upload_id)
SELECT r.value ->> 0, r.value ->> 1, r.value ->> 2, @organism_id, r.value ->> 3, @upload_id FROM json_each(@ticket_runs) AS r
