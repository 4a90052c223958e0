-- seqlease claim_insert_lease (L2, L11)
INSERT INTO lease (attempt_id, organism_id, pipeline_version, lease_until, lease_seconds, claimed_at, claimed_by, worker_id)
VALUES (@attempt_id, @organism_id, @pipeline_version, @now + @lease_seconds * 1000000, @lease_seconds, @now, @claimed_by, @worker_id)
RETURNING lease_until
