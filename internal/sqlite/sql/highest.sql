-- seqlease highest (L4): the highest version of each accession in the order given, NULL where there is none; the same joins as entry_state
SELECT v.value, e.id, e.version, o.key, e.group_id, e.released_at IS NOT NULL, e.is_revocation, r.outcome,
       coalesce(l.lease_until > (SELECT now FROM clock), 0)
FROM json_each(@accessions) AS v
LEFT JOIN entry AS e
    ON e.id = (SELECT p.id FROM published_entry AS p WHERE p.accession = v.value ORDER BY p.version DESC LIMIT 1)
LEFT JOIN organism AS o ON o.id = e.organism_id
LEFT JOIN result AS r
    ON r.pipeline_version = o.current_pipeline_version AND r.entry_id = e.id AND r.revision = e.revision
LEFT JOIN leased AS d ON d.pipeline_version = o.current_pipeline_version AND d.entry_id = e.id
LEFT JOIN lease AS l ON l.attempt_id = d.attempt_id
ORDER BY v.key
