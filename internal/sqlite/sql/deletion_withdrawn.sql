-- seqlease deletion_withdrawn (L10): the first part whose tickets are withdrawn
SELECT first_entry_id FROM withdrawn_ticket WHERE upload_id = @upload_id ORDER BY first_entry_id LIMIT 1
