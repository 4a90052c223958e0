-- seqlease empty_backfill (L10)
DELETE FROM backfill
