-- seqlease paused (L16): the organism, and each paused version of it
SELECT o.paused, p.version
FROM organism AS o
LEFT JOIN pipeline_version AS p ON p.organism_id = o.id AND p.version >= o.current_pipeline_version AND p.paused
WHERE o.key = @organism
ORDER BY p.version
