-- seqlease ticket_runs (L17): the first runs in fair order
SELECT rank, first_entry_id, last_entry_id
FROM ticket_run
WHERE organism_id = @organism_id AND pipeline_version = @pipeline_version
ORDER BY rank
LIMIT @runs
