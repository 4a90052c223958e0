-- seqlease switch_note (V7)
INSERT INTO version_switch (organism_id, pipeline_version, switched_at) VALUES (@organism_id, @pipeline_version, (SELECT now FROM clock))
