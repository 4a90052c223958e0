-- seqlease quarantined_places (L16): for which live versions locked entries are in quarantine for that reason
SELECT q.pipeline_version, q.entry_id
FROM organism AS o
JOIN pipeline_version AS pv ON pv.organism_id = o.id AND pv.version >= o.current_version AND @version::bigint IN (0, pv.version)
CROSS JOIN unnest(@ids::bigint[]) AS k (id)
CROSS JOIN LATERAL (
    SELECT pipeline_version, entry_id, reason FROM quarantine WHERE pipeline_version = pv.version AND entry_id = k.id OFFSET 0
) AS q
WHERE o.id = @organism::int AND position(@error::text IN q.reason) > 0
ORDER BY q.pipeline_version, q.entry_id
