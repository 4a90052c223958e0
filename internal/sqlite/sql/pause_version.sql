-- seqlease pause_version (L16): pauses or resumes one live version
UPDATE pipeline_version SET paused = @paused
WHERE organism_id = @organism_id AND version = @pipeline_version
  AND version >= (SELECT o.current_pipeline_version FROM organism AS o WHERE o.id = @organism_id)
