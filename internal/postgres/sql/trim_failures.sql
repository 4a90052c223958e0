-- seqlease trim_failures (L16): failures of more than that age; another server's trimming is not waited for
DELETE FROM failure WHERE ctid = ANY (ARRAY(
    SELECT f.ctid FROM organism AS o
    CROSS JOIN LATERAL (
        SELECT ctid FROM failure WHERE organism_id = o.id AND at < now() - @keep::bigint * interval '1 microsecond'
        ORDER BY at LIMIT @limit::int FOR UPDATE SKIP LOCKED
    ) AS f
    LIMIT @limit))
