-- seqlease deletion_restore_runs (L10, L17): the runs of tickets as they were
INSERT INTO ticket_run (pipeline_version, first_entry_id, last_entry_id, organism_id, rank)
SELECT w.pipeline_version, w.first_entry_id, w.last_entry_id, w.organism_id, w.rank
FROM withdrawn_run AS w
CROSS JOIN pipeline_version AS p ON p.organism_id = w.organism_id AND p.version = w.pipeline_version
WHERE w.upload_id = @upload_id
ON CONFLICT DO NOTHING
RETURNING organism_id, pipeline_version
