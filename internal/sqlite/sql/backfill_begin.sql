-- seqlease backfill_begin (V2, V3)
INSERT INTO backfill (organism_id, pipeline_version) VALUES (@organism_id, @pipeline_version)
ON CONFLICT (organism_id, pipeline_version) DO NOTHING
