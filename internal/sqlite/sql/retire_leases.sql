-- seqlease retire_leases (V7)
DELETE FROM lease
WHERE organism_id = @organism_id AND pipeline_version = @pipeline_version
  AND NOT EXISTS (SELECT 1 FROM leased AS d WHERE d.attempt_id = lease.attempt_id)
