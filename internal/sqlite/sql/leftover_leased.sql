-- seqlease leftover_leased (L4, V4): places in leases that aren't there, which no end would free
DELETE FROM leased
WHERE NOT EXISTS (SELECT 1 FROM lease AS l WHERE l.attempt_id = leased.attempt_id)
