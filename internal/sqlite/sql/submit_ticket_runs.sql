-- seqlease submit_ticket_runs (L1, L17): as submit_tickets, one row for each run of entry ids
INSERT INTO ticket_run (organism_id, pipeline_version, rank, first_entry_id, last_entry_id)
SELECT u.organism_id, u.pipeline_version,
       u.last_rank - @entries + 1
       + sum(r.last_entry_id - r.first_entry_id + 1) OVER (PARTITION BY u.pipeline_version ORDER BY r.first_entry_id)
       - (r.last_entry_id - r.first_entry_id + 1),
       r.first_entry_id, r.last_entry_id
FROM live_version AS p
CROSS JOIN turn AS u ON u.organism_id = p.organism_id AND u.pipeline_version = p.version AND u.lane = 0 AND u.group_id = @group_id
CROSS JOIN upload_run AS r ON r.upload_id = @upload_id
WHERE p.organism_id = @organism_id
