-- seqlease bump_released_by_results (L13): a new result of a released entry changes what is released
UPDATE change
SET n = n + 1, nonce = randomblob(8)
WHERE organism_id = @organism_id AND scope = 0
  AND EXISTS (SELECT 1
              FROM json_each(@lines) AS r
              CROSS JOIN entry AS e ON e.accession = r.value ->> 1 AND e.version = r.value ->> 2
              WHERE e.released_at IS NOT NULL)
