-- seqlease switch (V1, V5)
UPDATE organism SET current_pipeline_version = @pipeline_version
WHERE id = @organism_id AND current_pipeline_version = @current
