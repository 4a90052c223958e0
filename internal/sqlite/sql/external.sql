-- seqlease external: what an updater says of entries, instead of what it said before
INSERT INTO external_metadata (entry_id, updater, updated_at, user_name, body)
SELECT v.value ->> 0, @updater, @now, @user, v.value ->> 1
FROM json_each(@entries) AS v
WHERE true -- else ON would belong to the join
ON CONFLICT (entry_id, updater) DO UPDATE
SET updated_at = excluded.updated_at, user_name = excluded.user_name, body = excluded.body
WHERE external_metadata.body <> excluded.body
