-- seqlease trim_upload_keys: forgets keys of uploads that were stored longer ago than that many microseconds, oldest first
DELETE FROM upload_key
WHERE (user_name, key) IN (SELECT u.user_name, u.key
                           FROM upload_key AS u
                           WHERE u.created_at < (SELECT now FROM clock) - @keep
                           ORDER BY u.created_at
                           LIMIT @limit)
