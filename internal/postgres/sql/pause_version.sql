-- seqlease pause_version (L16): pauses or resumes one live version
UPDATE pipeline_version SET paused = @paused::boolean
WHERE organism_id = @organism::int AND version = @version::bigint AND version >= (SELECT current_version FROM organism WHERE id = @organism)
