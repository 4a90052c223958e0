-- seqlease bump_released_by_entries (L13): a change of the results of released entries changes what is released
UPDATE change
SET n = n + 1, nonce = randomblob(8)
WHERE scope = 0
  AND organism_id IN (SELECT e.organism_id
                      FROM json_each(@entry_ids) AS n
                      CROSS JOIN known_entry AS e ON e.id = n.value AND e.released_at IS NOT NULL)
