-- seqlease leases (L16): who holds what
SELECT l.attempt_id, l.pipeline_version, l.claimed_by, l.worker_id, l.claimed_at, l.lease_until, l.lease_until <= c.now,
       (SELECT count(*) FROM leased AS d WHERE d.attempt_id = l.attempt_id),
       coalesce((SELECT sum(r.entries) FROM claim_record AS r WHERE r.attempt_id = l.attempt_id), 0),
       (SELECT json_group_array(json_array(f.accession, f.version))
        FROM (SELECT e.accession, e.version
              FROM leased AS d
              CROSS JOIN entry AS e ON e.id = d.entry_id
              WHERE d.attempt_id = l.attempt_id
              ORDER BY d.position
              LIMIT 10) AS f)
FROM lease AS l
CROSS JOIN clock AS c
WHERE l.organism_id = @organism_id
  AND (@after_at IS NULL OR (l.claimed_at, l.attempt_id) > (@after_at, @after_attempt))
ORDER BY l.claimed_at, l.attempt_id
LIMIT @limit
