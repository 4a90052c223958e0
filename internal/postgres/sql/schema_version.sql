-- seqlease schema_version: the newest migration that was applied
SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied
