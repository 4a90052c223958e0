-- seqlease requeue_tickets (L9, L17): the entries wait anew, as the next, unless somebody works on them
WITH h AS MATERIALIZED (SELECT organism_id, pipeline_version, rank FROM lane_head WHERE organism_id = @organism_id AND lane = 0)
INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id)
SELECT h.organism_id, h.pipeline_version, 0, h.rank, e.id
FROM json_each(@places) AS p
CROSS JOIN entry AS e ON e.id = p.value ->> 1
JOIN h ON h.pipeline_version = p.value ->> 0
WHERE NOT EXISTS (SELECT 1 FROM leased AS d WHERE d.pipeline_version = h.pipeline_version AND d.entry_id = e.id)
ON CONFLICT (pipeline_version, entry_id) DO UPDATE SET lane = 0, rank = excluded.rank, attempts = 0, hand_outs = 0
