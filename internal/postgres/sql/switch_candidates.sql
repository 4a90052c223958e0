-- seqlease switch_candidates (V5): the versions above the current one that aren't paused and whose backfill is complete, of each organism the newest first
SELECT o.key, o.current_version, pv.version
FROM organism AS o
JOIN pipeline_version AS pv ON pv.organism_id = o.id AND pv.version > o.current_version
WHERE NOT pv.paused AND NOT EXISTS (SELECT FROM backfill WHERE organism_id = o.id AND pipeline_version = pv.version)
ORDER BY o.key, pv.version DESC
