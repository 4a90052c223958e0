-- seqlease reset_pipeline_version (V1): version 1 is there in every organism
INSERT INTO pipeline_version (organism_id, version, registered_at)
SELECT o.id, 1, c.now FROM organism AS o CROSS JOIN clock AS c WHERE true
ON CONFLICT (organism_id, version) DO NOTHING
