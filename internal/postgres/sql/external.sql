-- seqlease external: what an updater says of locked entries, instead of what it said before
INSERT INTO external_metadata (entry_id, updater, user_name, body)
SELECT k.id, @updater::text, @user::text, k.body
FROM unnest(@ids::bigint[], @bodies::text[]) AS k (id, body)
ORDER BY k.id
ON CONFLICT (entry_id, updater) DO UPDATE SET updated_at = excluded.updated_at, user_name = excluded.user_name, body = excluded.body
WHERE external_metadata.body <> excluded.body
