-- seqlease delete_tickets (L10)
DELETE FROM ticket
WHERE pipeline_version IN (SELECT p.version FROM pipeline_version AS p WHERE p.organism_id = @organism_id)
  AND entry_id IN (SELECT value FROM json_each(@entry_ids))
