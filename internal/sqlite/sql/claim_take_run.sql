-- seqlease claim_take_run (L1, L2, L17): the entries of a part of one run, without tickets, that are nowhere else
INSERT INTO leased (pipeline_version, entry_id, attempt_id, position, revision, attempts, hand_outs)
SELECT @pipeline_version, e.id, @attempt_id, @taken + e.id - @first_entry_id, e.revision, 1, 1
FROM entry AS e
WHERE e.id BETWEEN @first_entry_id AND @last_entry_id
  AND NOT EXISTS (SELECT 1 FROM ticket AS t WHERE t.pipeline_version = @pipeline_version AND t.entry_id = e.id)
  AND NOT EXISTS (SELECT 1 FROM leased AS d WHERE d.pipeline_version = @pipeline_version AND d.entry_id = e.id)
  AND NOT EXISTS (SELECT 1 FROM result AS r
                  WHERE r.pipeline_version = @pipeline_version AND r.entry_id = e.id AND r.revision = e.revision)
