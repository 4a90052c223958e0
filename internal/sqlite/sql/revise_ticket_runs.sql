-- seqlease revise_ticket_runs (L1, L17): as revise_tickets, one row for each group
INSERT INTO ticket_run (organism_id, pipeline_version, rank, first_entry_id, last_entry_id)
SELECT u.organism_id, u.pipeline_version, u.last_rank - (g.value ->> 2) + (g.value ->> 1), g.value ->> 1, g.value ->> 2
FROM live_version AS p
CROSS JOIN json_each(@groups) AS g
CROSS JOIN turn AS u
    ON u.organism_id = p.organism_id AND u.pipeline_version = p.version AND u.lane = 0 AND u.group_id = g.value ->> 0
WHERE p.organism_id = @organism_id
