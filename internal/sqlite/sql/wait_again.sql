-- seqlease wait_again (L4, L8, L9): places, [[pipeline version, entry id, attempt id],…], become tickets in the lanes of queue.Retry.Lane
INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id, attempts, hand_outs)
SELECT w.organism_id, w.pipeline_version, w.lane, CASE w.lane WHEN 0 THEN @rank ELSE @now END, w.entry_id, w.attempts, w.hand_outs
FROM (SELECT l.organism_id, d.pipeline_version, d.entry_id, d.attempts - @uncounted AS attempts, d.hand_outs,
             CASE WHEN d.attempts - @uncounted >= @max_attempts OR d.hand_outs - d.attempts + @uncounted >= @max_hand_outs THEN 4
                  WHEN d.attempts - @uncounted >= min(@alone_attempts, @max_attempts - 1)
                       OR d.hand_outs - d.attempts + @uncounted >= (@max_hand_outs + 1) / 2 THEN 3
                  WHEN d.attempts - @uncounted > 0 THEN 2
                  ELSE 0
             END AS lane
      FROM json_each(@places) AS p
      CROSS JOIN leased AS d ON d.pipeline_version = p.value ->> 0 AND d.entry_id = p.value ->> 1
      CROSS JOIN lease AS l ON l.attempt_id = d.attempt_id) AS w
WHERE true
ON CONFLICT (pipeline_version, entry_id) DO NOTHING
RETURNING organism_id, pipeline_version, lane
