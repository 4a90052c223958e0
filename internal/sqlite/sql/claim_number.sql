-- seqlease claim_number (L4): the order of what was taken over
UPDATE leased
SET position = n.position
FROM (SELECT pipeline_version, entry_id, row_number() OVER (ORDER BY entry_id) - 1 AS position
      FROM leased WHERE attempt_id = @attempt_id) AS n
WHERE leased.pipeline_version = n.pipeline_version AND leased.entry_id = n.entry_id
