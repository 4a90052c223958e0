-- seqlease claim_drop_ended (L4): the ended leases of which everything was taken over are gone; a claim empties at most as many as it has entries
DELETE FROM lease
WHERE attempt_id IN (SELECT l.attempt_id
                     FROM lease AS l
                     WHERE l.organism_id = @organism_id AND l.pipeline_version = @pipeline_version AND l.lease_until <= @now
                     ORDER BY l.lease_until, l.attempt_id
                     LIMIT @entries)
  AND NOT EXISTS (SELECT 1 FROM leased AS d WHERE d.attempt_id = lease.attempt_id)
