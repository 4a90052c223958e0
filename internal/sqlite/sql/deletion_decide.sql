-- seqlease deletion_decide (L10, L11): from here on nobody sees the entries, and the deletion can't fail any more
UPDATE upload SET hides = 1, started_at = (SELECT now FROM clock) WHERE id = @upload_id AND NOT hides
