-- seqlease revise_last_turns (L17): the largest rank of all, after revise_turns
INSERT INTO turn (organism_id, pipeline_version, lane, group_id, last_rank)
SELECT u.organism_id, u.pipeline_version, 0, 0, max(u.last_rank)
FROM live_version AS p
CROSS JOIN json_each(@groups) AS g
CROSS JOIN turn AS u
    ON u.organism_id = p.organism_id AND u.pipeline_version = p.version AND u.lane = 0 AND u.group_id = g.value ->> 0
WHERE p.organism_id = @organism_id
GROUP BY u.organism_id, u.pipeline_version
ON CONFLICT (organism_id, pipeline_version, lane, group_id) DO UPDATE SET last_rank = max(last_rank, excluded.last_rank)
