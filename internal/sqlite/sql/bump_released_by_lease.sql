-- seqlease bump_released_by_lease (L13): bump_released_by_entries for all that a lease holds
UPDATE change
SET n = n + 1, nonce = randomblob(8)
WHERE organism_id = @organism_id AND scope = 0
  AND EXISTS (SELECT 1
              FROM leased AS d
              CROSS JOIN known_entry AS e ON e.id = d.entry_id AND e.released_at IS NOT NULL
              WHERE d.attempt_id = @attempt_id)
