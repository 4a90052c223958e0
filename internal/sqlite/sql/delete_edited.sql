-- seqlease delete_edited
DELETE FROM edited WHERE entry_id IN (SELECT value FROM json_each(@entry_ids))
