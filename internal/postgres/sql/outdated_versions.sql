-- seqlease outdated_versions (V7): versions below the current one, with enough newer ones that have been current; and from which transaction id on nobody had begun yet, and before which everybody has ended
SELECT o.key, pv.version, pg_snapshot_xmax(s.now)::text::bigint AS next, pg_snapshot_xmin(s.now)::text::bigint AS oldest
FROM (SELECT pg_current_snapshot() AS now) AS s
CROSS JOIN organism AS o
JOIN pipeline_version AS pv ON pv.organism_id = o.id AND pv.version < o.current_version
WHERE (SELECT count(DISTINCT pipeline_version) FROM version_switch WHERE organism_id = o.id AND pipeline_version > pv.version) >= @keep::int
ORDER BY o.key, pv.version
