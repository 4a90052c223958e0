-- seqlease claim_take_tickets (L2, L9, L17): the first tickets of the lanes, in order
INSERT INTO leased (pipeline_version, entry_id, attempt_id, position, revision, attempts, hand_outs)
SELECT t.pipeline_version, t.entry_id, @attempt_id, @taken + row_number() OVER () - 1, e.revision, t.attempts + 1, t.hand_outs + 1
FROM (SELECT pipeline_version, entry_id, attempts, hand_outs
      FROM ticket
      WHERE organism_id = @organism_id AND pipeline_version = @pipeline_version AND lane BETWEEN @first_lane AND @last_lane
      ORDER BY lane, rank, entry_id
      LIMIT @entries) AS t
CROSS JOIN entry AS e ON e.id = t.entry_id
