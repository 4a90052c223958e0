-- seqlease delete_failures (L10)
DELETE FROM failure WHERE entry_id IN (SELECT value FROM json_each(@entry_ids))
