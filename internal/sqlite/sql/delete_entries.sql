-- seqlease delete_entries (L10): data use terms belong to the accession and stay
DELETE FROM entry WHERE id IN (SELECT value FROM json_each(@entry_ids))
