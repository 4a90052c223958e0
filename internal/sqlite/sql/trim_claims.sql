-- seqlease trim_claims (L16): records of claims that ended long ago
DELETE FROM claim_record
WHERE id IN (SELECT c.id FROM claim_record AS c
             WHERE c.claimed_at < (SELECT now FROM clock) - @keep
               AND c.claimed_at + c.lease_seconds * 1000000 < (SELECT now FROM clock) - @keep
               AND NOT EXISTS (SELECT 1 FROM lease AS l WHERE l.attempt_id = c.attempt_id)
             ORDER BY c.claimed_at
             LIMIT @limit)
