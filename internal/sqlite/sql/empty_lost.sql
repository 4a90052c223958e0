-- seqlease empty_lost (L10)
DELETE FROM lost
