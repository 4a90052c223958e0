-- seqlease trim_cuts (L7): what was cut from leases that are gone
DELETE FROM cut WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM cut WHERE NOT EXISTS (SELECT FROM lease WHERE attempt_id = cut.attempt_id) LIMIT @limit::int FOR UPDATE SKIP LOCKED))
