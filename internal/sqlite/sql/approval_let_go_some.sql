-- seqlease approval_let_go_some: the first runs of an approval that came to nothing
DELETE FROM approval_run
WHERE first_entry_id IN (SELECT r.first_entry_id FROM approval_run AS r
                         WHERE r.approval_id = @approval_id
                         ORDER BY r.first_entry_id
                         LIMIT @runs)
