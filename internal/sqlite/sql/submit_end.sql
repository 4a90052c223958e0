-- seqlease submit_end (L1)
DELETE FROM upload WHERE id = @upload_id
