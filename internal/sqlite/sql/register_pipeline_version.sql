-- seqlease register_pipeline_version (V2)
INSERT INTO pipeline_version (organism_id, version, registered_at) VALUES (@organism_id, @pipeline_version, (SELECT now FROM clock))
ON CONFLICT (organism_id, version) DO NOTHING
