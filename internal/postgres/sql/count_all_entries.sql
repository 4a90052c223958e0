-- seqlease count_all_entries: of every organism
SELECT count(*) FROM entry
