-- seqlease deletion_forget_runs (L10): as deletion_forget_tickets
DELETE FROM withdrawn_run
WHERE pipeline_version IN (SELECT p.version FROM pipeline_version AS p WHERE p.organism_id = @organism_id)
  AND first_entry_id BETWEEN @first_entry_id AND @last_entry_id
