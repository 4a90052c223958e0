-- seqlease revise_turns (L17): as submit_turns, for several groups, of which each has a run of entry ids
INSERT INTO turn (organism_id, pipeline_version, lane, group_id, last_rank)
SELECT h.organism_id, h.pipeline_version, 0, g.value ->> 0,
       max(h.rank, coalesce((SELECT u.last_rank FROM turn AS u
                             WHERE u.organism_id = h.organism_id AND u.pipeline_version = h.pipeline_version AND u.lane = 0
                               AND u.group_id = g.value ->> 0), 0)) + (g.value ->> 2) - (g.value ->> 1) + 1
FROM lane_head AS h
CROSS JOIN json_each(@groups) AS g
WHERE h.organism_id = @organism_id AND h.lane = 0
ON CONFLICT (organism_id, pipeline_version, lane, group_id) DO UPDATE SET last_rank = max(last_rank, excluded.last_rank)
