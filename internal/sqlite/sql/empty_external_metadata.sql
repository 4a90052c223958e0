-- seqlease empty_external_metadata (L10)
DELETE FROM external_metadata
