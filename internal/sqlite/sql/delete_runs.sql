-- seqlease delete_runs (L10): runs of tickets of which no entry is left, which claims would look through
DELETE FROM ticket_run
WHERE organism_id = @organism_id
  AND NOT EXISTS (SELECT 1 FROM entry AS e WHERE e.id BETWEEN ticket_run.first_entry_id AND ticket_run.last_entry_id)
