-- seqlease submit_tickets (L1): a ticket for each live pipeline version, in the order of the queue's key
INSERT INTO ticket (organism_id, pipeline_version, entry_id)
SELECT p.organism_id, p.version, e.id
FROM pipeline_version AS p
CROSS JOIN upload_part AS u
CROSS JOIN entry AS e ON e.id BETWEEN u.first_entry_id AND u.last_entry_id
WHERE p.organism_id = @organism_id AND u.upload_id = @upload_id
ORDER BY p.version, u.first_entry_id, e.id
