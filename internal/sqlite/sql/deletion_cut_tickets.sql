-- seqlease deletion_cut_tickets (L10): the tickets of a part
DELETE FROM ticket
WHERE (pipeline_version, entry_id) IN (
    SELECT t.pipeline_version, t.entry_id
    FROM pipeline_version AS p
    CROSS JOIN upload_run AS n
    CROSS JOIN ticket AS t ON t.pipeline_version = p.version AND t.entry_id BETWEEN n.first_entry_id AND n.last_entry_id
    WHERE p.organism_id = @organism_id AND n.upload_id = @upload_id AND n.first_entry_id BETWEEN @first_entry_id AND @last_entry_id)
