-- seqlease submit_tickets (L1, L17): a ticket for each entry of the upload and each live pipeline version, with the ranks of submit_turns
INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id)
SELECT u.organism_id, u.pipeline_version, 0, u.last_rank - @entries + row_number() OVER (PARTITION BY u.pipeline_version ORDER BY e.id), e.id
FROM live_version AS p
CROSS JOIN turn AS u ON u.organism_id = p.organism_id AND u.pipeline_version = p.version AND u.lane = 0 AND u.group_id = @group_id
CROSS JOIN upload_run AS r ON r.upload_id = @upload_id
CROSS JOIN entry AS e ON e.id BETWEEN r.first_entry_id AND r.last_entry_id
WHERE p.organism_id = @organism_id
