-- seqlease switch_candidates (V5): the versions above the current one that aren't paused and whose backfill is complete, of each organism the newest first
SELECT o.key, o.current_pipeline_version, p.version
FROM organism AS o
CROSS JOIN pipeline_version AS p ON p.organism_id = o.id AND p.version > o.current_pipeline_version
WHERE NOT p.paused AND NOT EXISTS (SELECT 1 FROM backfill AS b WHERE b.organism_id = o.id AND b.pipeline_version = p.version)
ORDER BY o.key, p.version DESC
