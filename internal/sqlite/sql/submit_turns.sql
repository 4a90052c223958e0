-- seqlease submit_turns (L17): ranks for the entries in each live version: behind the head, and behind what the group has already
INSERT INTO turn (organism_id, pipeline_version, lane, group_id, last_rank)
SELECT h.organism_id, h.pipeline_version, 0, g.value,
       max(h.rank, coalesce((SELECT u.last_rank FROM turn AS u
                             WHERE u.organism_id = h.organism_id AND u.pipeline_version = h.pipeline_version AND u.lane = 0
                               AND u.group_id = @group_id), 0)) + @entries
FROM lane_head AS h
CROSS JOIN json_each(json_array(@group_id, 0)) AS g
WHERE h.organism_id = @organism_id AND h.lane = 0
ON CONFLICT (organism_id, pipeline_version, lane, group_id) DO UPDATE SET last_rank = max(last_rank, excluded.last_rank)
