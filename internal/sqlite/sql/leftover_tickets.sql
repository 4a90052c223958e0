-- seqlease leftover_tickets (L1)
DELETE FROM ticket
WHERE organism_id = @organism_id
  AND pipeline_version IN (SELECT p.version FROM pipeline_version AS p WHERE p.organism_id = @organism_id)
  AND entry_id BETWEEN @first_entry_id AND @last_entry_id
