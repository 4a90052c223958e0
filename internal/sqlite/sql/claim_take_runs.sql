-- seqlease claim_take_runs (L1, L2, L17): the tickets of the fresh lane up to a rank, in order: those written out, and those that runs stand for
INSERT INTO leased (pipeline_version, entry_id, attempt_id, position, revision, attempts, hand_outs)
SELECT @pipeline_version, w.entry_id, @attempt_id, @taken + row_number() OVER (ORDER BY w.rank, w.entry_id) - 1, w.revision,
       w.attempts + 1, w.hand_outs + 1
FROM (SELECT t.rank, t.entry_id, e.revision, t.attempts, t.hand_outs
      FROM ticket AS t
      CROSS JOIN entry AS e ON e.id = t.entry_id
      WHERE t.organism_id = @organism_id AND t.pipeline_version = @pipeline_version AND t.lane = 0 AND t.rank <= @last_rank
      UNION ALL
      SELECT u.rank + e.id - u.first_entry_id, e.id, e.revision, 0, 0
      FROM ticket_run AS u
      CROSS JOIN entry AS e ON e.id BETWEEN u.first_entry_id AND min(u.last_entry_id, u.first_entry_id + @last_rank - u.rank)
      WHERE u.organism_id = @organism_id AND u.pipeline_version = @pipeline_version AND u.rank <= @last_rank
        AND NOT EXISTS (SELECT 1 FROM ticket AS t WHERE t.pipeline_version = u.pipeline_version AND t.entry_id = e.id)
        AND NOT EXISTS (SELECT 1 FROM leased AS d WHERE d.pipeline_version = u.pipeline_version AND d.entry_id = e.id)
        AND NOT EXISTS (SELECT 1 FROM result AS r
                        WHERE r.pipeline_version = u.pipeline_version AND r.entry_id = e.id AND r.revision = e.revision)) AS w
