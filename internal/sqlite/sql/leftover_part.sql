-- seqlease leftover_part (L1): a part of an upload that came to nothing
SELECT first_entry_id, last_entry_id FROM upload_part WHERE upload_id = @upload_id ORDER BY first_entry_id DESC LIMIT 1
