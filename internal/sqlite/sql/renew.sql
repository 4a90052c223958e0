-- seqlease renew (L7, L11): an ended lease is never revived
UPDATE lease
SET lease_until = (SELECT now FROM clock) + 1000000 * CASE @lease_seconds WHEN 0 THEN lease_seconds ELSE @lease_seconds END
WHERE attempt_id = @attempt_id AND claimed_by = @claimed_by AND lease_until > (SELECT now FROM clock)
  AND organism_id = (SELECT o.id FROM organism AS o WHERE o.key = @organism)
  AND EXISTS (SELECT 1 FROM leased AS d WHERE d.attempt_id = lease.attempt_id)
RETURNING lease_until, CASE @lease_seconds WHEN 0 THEN lease_seconds ELSE @lease_seconds END,
          (SELECT count(*) FROM leased AS d WHERE d.attempt_id = lease.attempt_id)
