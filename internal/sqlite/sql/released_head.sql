-- seqlease released_head (L12, L13): what comes before read_released, from the same snapshot
SELECT o.id, o.current_pipeline_version, m.mark, (SELECT now FROM clock),
       (SELECT count(*)
        FROM entry AS e
        WHERE e.organism_id = o.id AND e.released_at IS NOT NULL
          AND (e.is_revocation OR EXISTS (
              SELECT 1 FROM result AS r
              WHERE r.pipeline_version = o.current_pipeline_version AND r.entry_id = e.id AND r.revision = e.revision)))
FROM organism AS o
JOIN change_mark AS m ON m.organism_id = o.id AND m.scope = 0
WHERE o.key = @organism
