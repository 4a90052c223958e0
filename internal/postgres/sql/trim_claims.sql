-- seqlease trim_claims (L16): records of claims whose leases ended that long ago and hold nothing
DELETE FROM claim_record WHERE ctid = ANY (ARRAY(
    SELECT c.ctid FROM organism AS o
    CROSS JOIN LATERAL (
        SELECT ctid FROM claim_record AS c
        WHERE organism_id = o.id AND claimed_at < now() - @keep::bigint * interval '1 microsecond'
            AND claimed_at + lease_seconds * interval '1 second' < now() - @keep * interval '1 microsecond'
            AND NOT EXISTS (SELECT FROM lease WHERE attempt_id = c.attempt_id)
        ORDER BY claimed_at LIMIT @limit::int FOR UPDATE SKIP LOCKED
    ) AS c
    LIMIT @limit))
