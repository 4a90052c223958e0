-- seqlease deletion_let_go_some (L10): the first runs of a deletion that came to nothing
DELETE FROM upload_run
WHERE first_entry_id IN (SELECT r.first_entry_id FROM upload_run AS r
                         WHERE r.upload_id = @upload_id
                         ORDER BY r.first_entry_id
                         LIMIT @runs)
