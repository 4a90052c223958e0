-- seqlease outdated_versions (V7): versions below the current one, with enough newer ones that have been current
SELECT o.key, p.version
FROM organism AS o
CROSS JOIN pipeline_version AS p ON p.organism_id = o.id AND p.version < o.current_pipeline_version
WHERE (SELECT count(DISTINCT s.pipeline_version) FROM version_switch AS s
       WHERE s.organism_id = o.id AND s.pipeline_version > p.version) >= @keep
ORDER BY o.key, p.version
