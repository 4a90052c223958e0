-- seqlease stirred (L4, L14): for each of the queues, may something have become claimable since its mark was read
SELECT coalesce(m.mark, '') <> a.value ->> 2 OR o.current_pipeline_version > a.value ->> 1
       OR (NOT o.paused AND NOT p.paused
           AND EXISTS (SELECT 1 FROM lease AS l
                       WHERE l.organism_id = o.id AND l.pipeline_version = p.version AND l.lease_until <= (SELECT now FROM clock)))
FROM json_each(@awaited) AS a
LEFT JOIN organism AS o ON o.key = a.value ->> 0
LEFT JOIN pipeline_version AS p ON p.organism_id = o.id AND p.version = a.value ->> 1
LEFT JOIN change_mark AS m ON m.organism_id = o.id AND m.scope = a.value ->> 1
ORDER BY a.key
