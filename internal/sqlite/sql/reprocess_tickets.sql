-- seqlease reprocess_tickets (V9, L17): those of the entries that have a present result wait beside it, in fair order of their groups
WITH h AS MATERIALIZED (SELECT rank FROM lane_head
                       WHERE organism_id = @organism_id AND pipeline_version = @pipeline_version AND lane = 1)
INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id)
SELECT p.organism_id, p.version, 1,
       max(h.rank, coalesce(u.last_rank, 0)) + row_number() OVER (PARTITION BY e.group_id ORDER BY e.id), e.id
FROM json_each(@entry_ids) AS n
CROSS JOIN free_entry AS e ON e.id = n.value
CROSS JOIN live_version AS p ON p.organism_id = e.organism_id AND p.version = @pipeline_version
CROSS JOIN result AS r ON r.pipeline_version = p.version AND r.entry_id = e.id AND r.revision = e.revision
CROSS JOIN h
LEFT JOIN turn AS u ON u.organism_id = p.organism_id AND u.pipeline_version = p.version AND u.lane = 1 AND u.group_id = e.group_id
WHERE NOT EXISTS (SELECT 1 FROM ticket AS t WHERE t.pipeline_version = p.version AND t.entry_id = e.id)
  AND NOT EXISTS (SELECT 1 FROM leased AS d WHERE d.pipeline_version = p.version AND d.entry_id = e.id)
RETURNING organism_id, pipeline_version, lane
