-- seqlease empty_upload_key (L10)
DELETE FROM upload_key
