-- seqlease compare_versions (V5, V8): how many entries have a result under either version, by the index of results, and whether either holds any
SELECT (SELECT count(*) FROM result WHERE pipeline_version = @current::bigint AND organism_id = @organism::int) AS current,
    (SELECT count(*) FROM result WHERE pipeline_version = @version::bigint AND organism_id = @organism) AS candidate,
    EXISTS (SELECT FROM lease WHERE organism_id = @organism AND pipeline_version = @version) AS held,
    EXISTS (SELECT FROM lease WHERE organism_id = @organism AND pipeline_version = @current) AS current_held
