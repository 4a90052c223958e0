-- seqlease submit_publish (L1): from here on everybody sees the entries
DELETE FROM upload_part WHERE upload_id = @upload_id
