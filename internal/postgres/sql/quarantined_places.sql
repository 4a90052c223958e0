-- seqlease quarantined_places (L16): for which live versions locked entries are in quarantine for that reason
SELECT q.pipeline_version, q.entry_id
FROM organism AS o
JOIN quarantine AS q ON q.organism_id = o.id AND q.pipeline_version >= o.current_version
WHERE o.id = @organism::int AND q.entry_id = ANY (@ids::bigint[]) AND @version::bigint IN (0, q.pipeline_version)
    AND position(@error::text IN q.reason) > 0
ORDER BY q.pipeline_version, q.entry_id
