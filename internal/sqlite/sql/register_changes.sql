-- seqlease register_changes (L13): counters of what is released and of the queue
INSERT INTO change (organism_id, scope) VALUES (@organism_id, 0), (@organism_id, @pipeline_version)
ON CONFLICT (organism_id, scope) DO NOTHING
