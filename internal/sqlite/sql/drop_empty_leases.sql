-- seqlease drop_empty_leases (L3, L4, L8): a lease without entries is none; whose they were
DELETE FROM lease
WHERE attempt_id IN (SELECT unhex(value) FROM json_each(@attempt_ids))
  AND NOT EXISTS (SELECT 1 FROM leased AS d WHERE d.attempt_id = lease.attempt_id)
RETURNING worker_id, claimed_by
