-- seqlease delete_data (L10)
DELETE FROM submitted WHERE entry_id IN (SELECT value FROM json_each(@entry_ids))
