-- seqlease approval_runs: the first of the runs that are still there
SELECT first_entry_id, last_entry_id
FROM approval_run
WHERE approval_id = @approval_id
ORDER BY first_entry_id
LIMIT @runs
