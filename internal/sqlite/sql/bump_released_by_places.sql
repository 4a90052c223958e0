-- seqlease bump_released_by_places (L13): what is released changes with the results of released entries under the current pipeline version
UPDATE change
SET n = n + 1, nonce = randomblob(8)
WHERE scope = 0
  AND organism_id IN (SELECT e.organism_id
                      FROM json_each(@places) AS p
                      CROSS JOIN known_entry AS e ON e.id = p.value ->> 1 AND e.released_at IS NOT NULL
                      CROSS JOIN organism AS o ON o.id = e.organism_id AND o.current_pipeline_version = p.value ->> 0)
