-- seqlease free_listed (L16): as free_leases, of the listed entries alone
SELECT DISTINCT d.pipeline_version, d.entry_id, lower(hex(d.attempt_id))
FROM json_each(@entries) AS v
CROSS JOIN entry AS e ON e.accession = v.value ->> 0 AND e.version = v.value ->> 1 AND e.organism_id = @organism_id
CROSS JOIN pipeline_version AS p ON p.organism_id = e.organism_id
CROSS JOIN leased AS d ON d.pipeline_version = p.version AND d.entry_id = e.id
CROSS JOIN lease AS l ON l.attempt_id = d.attempt_id
WHERE (@attempt_ids IS NULL OR l.attempt_id IN (SELECT unhex(value) FROM json_each(@attempt_ids)))
  AND (@worker_id = '' OR l.worker_id = @worker_id)
LIMIT @places
