-- seqlease claim_close_gaps (L2): the places of a slice are numbered without gaps
UPDATE leased SET position = n.position
FROM (SELECT d.pipeline_version, d.entry_id, @taken + row_number() OVER (ORDER BY d.position) - 1 AS position
      FROM leased AS d
      WHERE d.attempt_id = @attempt_id AND d.position >= @taken) AS n
WHERE leased.pipeline_version = n.pipeline_version AND leased.entry_id = n.entry_id
