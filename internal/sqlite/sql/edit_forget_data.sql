-- seqlease edit_forget_data: the first revision is the archive's copy, the last is in use
DELETE FROM submitted WHERE entry_id = @entry_id AND revision > 1 AND revision < @revision
