-- seqlease outdated_versions (V7): versions below the current one, with enough newer ones that have been current, once everybody has ended who may not have seen the last switch
SELECT o.key, pv.version
FROM organism AS o
JOIN pipeline_version AS pv ON pv.organism_id = o.id AND pv.version < o.current_version
WHERE (SELECT count(DISTINCT pipeline_version) FROM version_switch WHERE organism_id = o.id AND pipeline_version > pv.version) >= @keep::int
    AND NOT EXISTS (SELECT FROM version_switch WHERE organism_id = o.id AND switched_xid >= pg_snapshot_xmin(pg_current_snapshot()))
ORDER BY o.key, pv.version
