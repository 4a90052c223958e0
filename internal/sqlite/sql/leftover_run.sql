-- seqlease leftover_run (L1): the last entries of an upload that came to nothing, at most so many
SELECT u.organism_id, max(r.first_entry_id, r.last_entry_id - @entries + 1), r.last_entry_id
FROM upload AS u
JOIN upload_run AS r ON r.upload_id = u.id
WHERE u.id = @upload_id
ORDER BY r.first_entry_id DESC
LIMIT 1
