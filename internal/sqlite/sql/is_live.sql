-- seqlease is_live (V1): whether the version may be claimed with
SELECT EXISTS (SELECT 1 FROM live_version AS p WHERE p.organism_id = @organism_id AND p.version = @pipeline_version)
