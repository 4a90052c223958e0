-- seqlease entry_states (L4): where the given entries stand at @now, NULL where there is none; the same joins as entry_state
SELECT v.accession, v.version, e.id, o.key, e.released_at IS NOT NULL, e.is_revocation, r.outcome, coalesce(l.lease_until > @now, 0)
FROM (SELECT value ->> 0 AS accession, value ->> 1 AS version FROM json_each(@entries)) AS v
LEFT JOIN published_entry AS e ON e.accession = v.accession AND e.version = v.version
LEFT JOIN organism AS o ON o.id = e.organism_id
LEFT JOIN result AS r
    ON r.pipeline_version = o.current_pipeline_version AND r.entry_id = e.id AND r.revision = e.revision
LEFT JOIN leased AS d ON d.pipeline_version = o.current_pipeline_version AND d.entry_id = e.id
LEFT JOIN lease AS l ON l.attempt_id = d.attempt_id
