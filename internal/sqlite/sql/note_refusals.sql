-- seqlease note_refusals (L9, L16): lines, [["ACC",version,"attempt id" or null,"reason"],…], of entries that the user holds; the lease goes on
INSERT INTO failure (entry_id, revision, pipeline_version, organism_id, at, attempt_id, kind, worker_id, claimed_by, counted, reason)
SELECT d.entry_id, d.revision, d.pipeline_version, l.organism_id, c.now, d.attempt_id, 'refused', l.worker_id, l.claimed_by, 0, n.value ->> 3
FROM json_each(@lines) AS n
CROSS JOIN clock AS c
CROSS JOIN entry AS e ON e.accession = n.value ->> 0 AND e.version = n.value ->> 1
CROSS JOIN leased AS d ON d.pipeline_version = @pipeline_version AND d.entry_id = e.id
CROSS JOIN lease AS l ON l.attempt_id = d.attempt_id
WHERE l.lease_until > c.now AND l.claimed_by = @claimed_by AND l.organism_id = (SELECT o.id FROM organism AS o WHERE o.key = @organism)
  AND (n.value ->> 2 IS NULL OR d.attempt_id = unhex(n.value ->> 2))
  AND (SELECT count(*) FROM failure AS f
       WHERE f.entry_id = d.entry_id AND f.attempt_id = d.attempt_id AND f.kind = 'refused') < @refusals
