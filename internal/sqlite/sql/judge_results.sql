-- seqlease judge_results (L3, L5, L6, L10): each line that is neither held nor stored already, and why not
SELECT r.place, coalesce(o.key, ''),
       CASE WHEN e.id IS NULL THEN 'not-found'
            WHEN e.organism_id <> @organism_id THEN 'wrong-organism'
            WHEN s.attempt_id = r.attempt_id AND s.revision = e.revision
                 AND coalesce(s.claimed_by = @claimed_by, 1) THEN 'different-results'
            WHEN EXISTS (SELECT 1 FROM edited AS x WHERE x.entry_id = e.id AND x.attempt_id = r.attempt_id) THEN 'edited'
            ELSE 'lease-lost'
       END AS reason,
       CASE WHEN d.entry_id IS NULL
            THEN (SELECT f.at FROM failure AS f
                  WHERE f.entry_id = e.id AND f.attempt_id = r.attempt_id AND f.kind = 'expired' AND f.revision = e.revision
                    AND f.pipeline_version = @pipeline_version AND f.claimed_by = @claimed_by
                  LIMIT 1)
            WHEN l.claimed_by = @claimed_by AND l.pipeline_version = @pipeline_version AND l.lease_until <= @now THEN l.lease_until
       END AS ended_at,
       CASE WHEN d.entry_id IS NOT NULL AND l.claimed_by = @claimed_by AND l.pipeline_version <> @pipeline_version
            THEN l.pipeline_version END AS claimed_version
FROM (SELECT key AS place, value ->> 0 AS accession, value ->> 1 AS version, unhex(value ->> 2) AS attempt_id,
             unhex(value ->> 3) AS digest
      FROM json_each(@lines)) AS r
LEFT JOIN published_entry AS e ON e.accession = r.accession AND e.version = r.version
LEFT JOIN organism AS o ON o.id = e.organism_id
LEFT JOIN lease AS l ON l.attempt_id = r.attempt_id
LEFT JOIN leased AS d
    ON d.pipeline_version = l.pipeline_version AND d.entry_id = e.id AND d.attempt_id = r.attempt_id AND d.revision = e.revision
LEFT JOIN result AS s ON s.pipeline_version = @pipeline_version AND s.entry_id = e.id
WHERE e.id IS NULL OR e.organism_id <> @organism_id
   OR NOT (coalesce(d.entry_id IS NOT NULL AND l.pipeline_version = @pipeline_version AND l.lease_until > @now
                    AND l.claimed_by = @claimed_by, 0)
           OR coalesce(s.attempt_id = r.attempt_id AND s.revision = e.revision AND s.digest = r.digest
                       AND coalesce(s.claimed_by = @claimed_by, 1), 0))
