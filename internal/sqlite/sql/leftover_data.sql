-- seqlease leftover_data (L1)
DELETE FROM submitted WHERE entry_id BETWEEN @first_entry_id AND @last_entry_id
