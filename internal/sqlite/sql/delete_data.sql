-- seqlease delete_data
DELETE FROM submitted WHERE entry_id IN (SELECT value FROM json_each(@entry_ids))
