-- seqlease quarantined (L16): quarantined entries by id and version
SELECT q.entry_id, e.accession, e.version, q.pipeline_version, q.at, q.operator, q.attempts, q.hand_outs, q.reason, e.revision
FROM quarantine AS q
CROSS JOIN LATERAL (SELECT accession, version, revision FROM entry WHERE id = q.entry_id OFFSET 0) AS e
WHERE q.organism_id = @organism::int AND q.entry_id IN (
    SELECT DISTINCT entry_id FROM quarantine WHERE organism_id = @organism AND entry_id > @after::bigint ORDER BY entry_id LIMIT @limit::int)
ORDER BY q.entry_id, q.pipeline_version
