-- seqlease leftover_run (L1): the last entries of an upload that came to nothing, at most so many; they have no tickets yet
SELECT max(first_entry_id, last_entry_id - @entries + 1), last_entry_id
FROM upload_run
WHERE upload_id = @upload_id
ORDER BY first_entry_id DESC
LIMIT 1
