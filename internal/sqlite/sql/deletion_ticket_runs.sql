-- seqlease deletion_ticket_runs (L10): the runs of tickets of any live version that reach between two entries
SELECT u.pipeline_version, u.first_entry_id, u.last_entry_id, u.rank
FROM pipeline_version AS p
CROSS JOIN ticket_run AS u
    ON u.pipeline_version = p.version
   AND u.first_entry_id >= coalesce((SELECT f.first_entry_id FROM ticket_run AS f
                                     WHERE f.pipeline_version = p.version AND f.first_entry_id <= @first_entry_id
                                     ORDER BY f.first_entry_id DESC LIMIT 1), 0)
   AND u.first_entry_id <= @last_entry_id
WHERE p.organism_id = @organism_id AND u.organism_id = @organism_id AND u.last_entry_id >= @first_entry_id
