-- seqlease leftover_entries (L1)
DELETE FROM entry WHERE id BETWEEN @first_entry_id AND @last_entry_id
