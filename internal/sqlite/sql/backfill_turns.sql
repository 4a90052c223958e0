-- seqlease backfill_turns (L17): the last ranks of the entries' groups are at least those that the entries have
INSERT INTO turn (organism_id, pipeline_version, lane, group_id, last_rank)
SELECT t.organism_id, t.pipeline_version, t.lane, g.value, max(t.rank)
FROM json_each(@entry_ids) AS n
CROSS JOIN ticket AS t ON t.pipeline_version = @pipeline_version AND t.entry_id = n.value AND t.lane = 1
CROSS JOIN entry AS e ON e.id = t.entry_id
CROSS JOIN json_each(json_array(e.group_id, 0)) AS g
WHERE true
GROUP BY t.organism_id, t.pipeline_version, t.lane, g.value
ON CONFLICT (organism_id, pipeline_version, lane, group_id) DO UPDATE SET last_rank = max(last_rank, excluded.last_rank)
