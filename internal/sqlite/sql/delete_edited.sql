-- seqlease delete_edited (L10)
DELETE FROM edited WHERE entry_id IN (SELECT value FROM json_each(@entry_ids))
