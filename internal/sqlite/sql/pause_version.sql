-- seqlease pause_version (L16)
UPDATE pipeline_version SET paused = @paused WHERE organism_id = @organism_id AND version = @pipeline_version
