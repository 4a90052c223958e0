-- seqlease retire_runs (V7): one row for each large upload
DELETE FROM ticket_run
WHERE organism_id = @organism_id AND pipeline_version = @pipeline_version
