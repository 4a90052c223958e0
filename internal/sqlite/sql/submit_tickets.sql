-- seqlease submit_tickets (L1): a ticket for each live pipeline version, which nobody sees yet either
INSERT INTO ticket (organism_id, pipeline_version, entry_id)
SELECT p.organism_id, p.version, e.id
FROM pipeline_version AS p
CROSS JOIN entry AS e ON e.id BETWEEN @first_entry_id AND @last_entry_id
WHERE p.organism_id = @organism_id
