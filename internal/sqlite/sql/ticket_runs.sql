-- seqlease ticket_runs (L17): the first runs in fair order
SELECT rank, last_entry_id - first_entry_id + 1
FROM ticket_run
WHERE organism_id = @organism_id AND pipeline_version = @pipeline_version
ORDER BY rank
LIMIT @runs
