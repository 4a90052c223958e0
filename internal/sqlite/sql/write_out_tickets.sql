-- seqlease write_out_tickets (L1, L17): the tickets that the runs stand for, as far as a rank
INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id)
SELECT u.organism_id, u.pipeline_version, 0, u.rank + e.id - u.first_entry_id, e.id
FROM ticket_run AS u
CROSS JOIN entry AS e ON e.id BETWEEN u.first_entry_id AND min(u.last_entry_id, u.first_entry_id + @last_rank - u.rank)
WHERE u.organism_id = @organism_id AND u.pipeline_version = @pipeline_version AND u.rank <= @last_rank
  AND NOT EXISTS (SELECT 1 FROM leased AS d WHERE d.pipeline_version = u.pipeline_version AND d.entry_id = e.id)
  AND NOT EXISTS (SELECT 1 FROM result AS r WHERE r.pipeline_version = u.pipeline_version AND r.entry_id = e.id AND r.revision = e.revision)
ON CONFLICT (pipeline_version, entry_id) DO NOTHING
