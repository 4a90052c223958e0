-- seqlease requeue_tickets (L9, L17): the entries wait anew, in turns of their groups, unless somebody works on them
WITH h AS MATERIALIZED (SELECT organism_id, pipeline_version, rank FROM lane_head WHERE organism_id = @organism_id AND lane = 0)
INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id)
SELECT h.organism_id, h.pipeline_version, 0,
       max(h.rank, coalesce(u.last_rank, 0)) + row_number() OVER (PARTITION BY h.pipeline_version, e.group_id ORDER BY e.id), e.id
FROM json_each(@places) AS p
CROSS JOIN entry AS e ON e.id = p.value ->> 1
JOIN h ON h.pipeline_version = p.value ->> 0
LEFT JOIN turn AS u ON u.organism_id = h.organism_id AND u.pipeline_version = h.pipeline_version AND u.lane = 0 AND u.group_id = e.group_id
WHERE NOT EXISTS (SELECT 1 FROM leased AS d WHERE d.pipeline_version = h.pipeline_version AND d.entry_id = e.id)
ON CONFLICT (pipeline_version, entry_id) DO UPDATE SET lane = 0, rank = excluded.rank, attempts = 0, hand_outs = 0
