-- seqlease version_state (V1): the current version, and whether the version is registered and live; 0 means the current one
SELECT o.current_version, pv.version IS NOT NULL AND pv.version >= o.current_version AS live
FROM organism AS o
LEFT JOIN pipeline_version AS pv ON pv.organism_id = o.id AND pv.version = coalesce(nullif(@version::bigint, 0), o.current_version)
WHERE o.id = @organism::int
