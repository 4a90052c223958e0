-- seqlease deletion_let_go (L10): the deletion's runs that begin between two entries
DELETE FROM upload_run
WHERE upload_id = @upload_id AND first_entry_id BETWEEN @first_entry_id AND @last_entry_id
