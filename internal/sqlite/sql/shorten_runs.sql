-- seqlease shorten_runs (L17): the rest begins behind the tickets that are written out
UPDATE ticket_run
SET first_entry_id = first_entry_id + @last_rank + 1 - rank, rank = @last_rank + 1
WHERE organism_id = @organism_id AND pipeline_version = @pipeline_version AND rank <= @last_rank
