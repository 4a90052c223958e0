-- seqlease reconcile_find (L1, V4): entries that a live version has forgotten
SELECT DISTINCT entry_id FROM forgotten WHERE entry_id > @after AND entry_id <= @last
