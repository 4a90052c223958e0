-- seqlease approval_let_go: the approval's runs that begin between two entries
DELETE FROM approval_run
WHERE approval_id = @approval_id AND first_entry_id BETWEEN @first_entry_id AND @last_entry_id
