-- seqlease trim_upload_keys: forgets keys of uploads that were stored longer ago than that many microseconds, oldest first
DELETE FROM upload_key WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM upload_key
    WHERE created_at < now() - @keep::bigint * interval '1 microsecond'
    ORDER BY created_at LIMIT @limit::bigint FOR UPDATE SKIP LOCKED))
