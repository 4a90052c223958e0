-- seqlease note_lost (L7): the places were cut from their leases by somebody else than their workers
UPDATE lease
SET lost = CASE lease.lost WHEN '[]' THEN c.lost ELSE substr(lease.lost, 1, length(lease.lost) - 1) || ',' || substr(c.lost, 2) END
FROM (SELECT p.value ->> 2 AS attempt, json_group_array(json_array(e.accession, e.version)) AS lost
      FROM json_each(@places) AS p
      CROSS JOIN entry AS e ON e.id = p.value ->> 1
      GROUP BY p.value ->> 2) AS c
WHERE lease.attempt_id = unhex(c.attempt)
