-- seqlease retire_leased (V7): the entries of some leases, before retire_leases
DELETE FROM leased
WHERE attempt_id IN (SELECT l.attempt_id FROM lease AS l
                     WHERE l.organism_id = @organism_id AND l.pipeline_version = @pipeline_version
                     ORDER BY l.lease_until LIMIT @leases)
