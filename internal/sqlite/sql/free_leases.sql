-- seqlease free_leases (L16): places in leases that an operator ends
SELECT d.pipeline_version, d.entry_id, lower(hex(d.attempt_id))
FROM (SELECT l.attempt_id
      FROM lease AS l
      WHERE l.organism_id = @organism_id
        AND (@attempt_ids IS NULL OR l.attempt_id IN (SELECT unhex(value) FROM json_each(@attempt_ids)))
        AND (@worker_id = '' OR l.worker_id = @worker_id)
      ORDER BY l.attempt_id
      LIMIT @leases) AS n
CROSS JOIN leased AS d ON d.attempt_id = n.attempt_id
LIMIT @places
