-- seqlease retire_tickets (V7)
DELETE FROM ticket
WHERE (organism_id, pipeline_version, lane, rank, entry_id) IN (
    SELECT t.organism_id, t.pipeline_version, t.lane, t.rank, t.entry_id FROM ticket AS t
    WHERE t.organism_id = @organism_id AND t.pipeline_version = @pipeline_version
    ORDER BY t.lane, t.rank, t.entry_id LIMIT @limit)
