-- seqlease drop_empty_leases (L3, L8): a lease without entries is none
DELETE FROM lease
WHERE attempt_id IN (SELECT unhex(value) FROM json_each(@attempt_ids))
  AND NOT EXISTS (SELECT 1 FROM leased AS d WHERE d.attempt_id = lease.attempt_id)
