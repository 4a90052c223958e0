-- seqlease end_runs (L17): those whose tickets are all written out
DELETE FROM ticket_run
WHERE organism_id = @organism_id AND pipeline_version = @pipeline_version AND rank <= @last_rank
  AND last_entry_id - first_entry_id <= @last_rank - rank
