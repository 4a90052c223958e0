-- seqlease deletion_runs (L10): the first of the runs that are still there
SELECT first_entry_id, last_entry_id
FROM upload_run
WHERE upload_id = @upload_id
ORDER BY first_entry_id
LIMIT @runs
