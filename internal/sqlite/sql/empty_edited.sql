-- seqlease empty_edited (L10)
DELETE FROM edited
