-- seqlease entry_states: where the given entries stand at @now, NULL where there is none
SELECT v.accession, v.version, s.id, o.key, s.released_at IS NOT NULL, s.is_revocation, s.outcome, coalesce(s.lease_until > @now, 0)
FROM (SELECT value ->> 0 AS accession, value ->> 1 AS version FROM json_each(@entries)) AS v
LEFT JOIN entry_state AS s ON s.accession = v.accession AND s.version = v.version
LEFT JOIN organism AS o ON o.id = s.organism_id
