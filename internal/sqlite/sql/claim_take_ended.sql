-- seqlease claim_take_ended (L4): entries of ended leases go over, those of the longest ended first; the others stay there until they are asked for
UPDATE leased
SET attempt_id = @attempt_id, attempts = attempts + 1, hand_outs = hand_outs + 1, position = n.position
FROM (SELECT o.entry_id, @taken + row_number() OVER (ORDER BY o.entry_id) - 1 AS position
      FROM (SELECT d.entry_id
            FROM lease AS l
            CROSS JOIN leased AS d ON d.attempt_id = l.attempt_id
            WHERE l.organism_id = @organism_id AND l.pipeline_version = @pipeline_version AND l.lease_until <= @now
            ORDER BY l.lease_until, l.attempt_id, d.position
            LIMIT @entries) AS o) AS n
WHERE leased.pipeline_version = @pipeline_version AND leased.entry_id = n.entry_id
