-- seqlease claim_drop_ended (L4): the leases that were taken over are gone
DELETE FROM lease
WHERE organism_id = @organism_id AND pipeline_version = @pipeline_version AND lease_until <= @now
  AND NOT EXISTS (SELECT 1 FROM leased AS d WHERE d.attempt_id = lease.attempt_id)
