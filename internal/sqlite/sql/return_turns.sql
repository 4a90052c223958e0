-- seqlease return_turns (L17): groups get the turns of those of the entries back that wait in lanes 0 and 1; version 0 means every one
UPDATE turn SET last_rank = last_rank - w.turns
FROM (SELECT p.organism_id, p.version, coalesce(t.lane, 0) AS lane, e.group_id, count(*) AS turns
      FROM json_each(@entry_ids) AS n
      CROSS JOIN entry AS e ON e.id = n.value
      CROSS JOIN pipeline_version AS p ON p.organism_id = e.organism_id AND (@pipeline_version = 0 OR p.version = @pipeline_version)
      LEFT JOIN ticket AS t ON t.pipeline_version = p.version AND t.entry_id = e.id
      WHERE t.lane < 2
         OR t.lane IS NULL
            AND e.id <= (SELECT u.last_entry_id FROM ticket_run AS u
                         WHERE u.pipeline_version = p.version AND u.first_entry_id <= e.id
                         ORDER BY u.first_entry_id DESC LIMIT 1)
            AND NOT EXISTS (SELECT 1 FROM leased AS d WHERE d.pipeline_version = p.version AND d.entry_id = e.id)
            AND NOT EXISTS (SELECT 1 FROM result AS r WHERE r.pipeline_version = p.version AND r.entry_id = e.id AND r.revision = e.revision)
      GROUP BY p.organism_id, p.version, coalesce(t.lane, 0), e.group_id) AS w
WHERE turn.organism_id = w.organism_id AND turn.pipeline_version = w.version AND turn.lane = w.lane AND turn.group_id = w.group_id
