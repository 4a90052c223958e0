-- seqlease revise_tickets (L1, L17): as submit_tickets, with the ranks of revise_turns
INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id)
SELECT u.organism_id, u.pipeline_version, 0, u.last_rank - (g.value ->> 2) + e.id, e.id
FROM live_version AS p
CROSS JOIN json_each(@groups) AS g
CROSS JOIN turn AS u
    ON u.organism_id = p.organism_id AND u.pipeline_version = p.version AND u.lane = 0 AND u.group_id = g.value ->> 0
CROSS JOIN entry AS e ON e.id BETWEEN g.value ->> 1 AND g.value ->> 2
WHERE p.organism_id = @organism_id
