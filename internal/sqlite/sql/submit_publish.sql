-- seqlease submit_publish (L1): from here on everybody sees the entries and their tickets
DELETE FROM upload_run WHERE upload_id = @upload_id
