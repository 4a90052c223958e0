-- seqlease deletion_forget_tickets (L10): those withdrawn of entries up to this one, which are gone
DELETE FROM withdrawn_ticket WHERE upload_id = @upload_id AND first_entry_id <= @last_entry_id
