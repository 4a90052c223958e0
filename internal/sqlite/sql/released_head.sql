-- seqlease released_head (L12, L13): what comes before read_released, from the same snapshot
SELECT o.id, o.current_pipeline_version, m.mark, (SELECT now FROM clock),
       (SELECT count(*) FROM known_entry AS e WHERE e.organism_id = o.id AND e.released_at IS NOT NULL)
FROM organism AS o
JOIN change_mark AS m ON m.organism_id = o.id AND m.scope = 0
WHERE o.key = @organism
