-- seqlease ended_places (L4): entries of leases that have ended, of one queue or of all
SELECT d.pipeline_version, d.entry_id, lower(hex(d.attempt_id))
FROM (SELECT l.attempt_id
      FROM pipeline_version AS p
      CROSS JOIN lease AS l ON l.organism_id = p.organism_id AND l.pipeline_version = p.version AND l.lease_until <= @now
      WHERE @organism_id IS NULL OR (p.organism_id = @organism_id AND p.version = @pipeline_version)
      LIMIT @leases) AS n
CROSS JOIN leased AS d ON d.attempt_id = n.attempt_id
LIMIT @entries
