-- seqlease copy_tickets (L1, L17): tickets of an upload's entries for a pipeline version
COPY ticket (pipeline_version, rank, entry_id, organism_id, lane) FROM STDIN (FORMAT binary)
