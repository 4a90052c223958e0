-- seqlease bump_released_by_results (L13): a new result of a released entry, not cut from its lease yet, changes what is released
UPDATE change
SET n = n + 1, nonce = randomblob(8)
WHERE organism_id = @organism_id AND scope = 0
  AND EXISTS (SELECT 1
              FROM json_each(@attempt_ids) AS a
              CROSS JOIN leased AS d ON d.attempt_id = unhex(a.value)
              CROSS JOIN entry AS e ON e.id = d.entry_id AND e.released_at IS NOT NULL
              CROSS JOIN result AS r ON r.pipeline_version = d.pipeline_version AND r.entry_id = d.entry_id
                                    AND r.attempt_id = d.attempt_id AND r.revision = d.revision)
