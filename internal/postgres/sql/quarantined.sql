-- seqlease quarantined (L16): quarantined entries by id and version
SELECT q.entry_id, e.accession, e.version, q.pipeline_version, q.at, q.operator, q.attempts, q.hand_outs, q.reason, e.revision
FROM quarantine AS q
JOIN organism AS o ON o.id = q.organism_id AND q.pipeline_version >= o.current_version
CROSS JOIN LATERAL (SELECT accession, version, revision FROM entry WHERE id = q.entry_id OFFSET 0) AS e
WHERE q.organism_id = @organism::int AND q.entry_id IN (
    SELECT DISTINCT n.entry_id FROM quarantine AS n JOIN organism AS o ON o.id = n.organism_id AND n.pipeline_version >= o.current_version
    WHERE n.organism_id = @organism AND n.entry_id > @after::bigint ORDER BY n.entry_id LIMIT @limit::int)
ORDER BY q.entry_id, q.pipeline_version
