-- seqlease forget_version (V7): a version below the current one isn't registered any more, if it has no row left; its change counters stay, so that its marks go on rising
WITH gone AS MATERIALIZED (
    DELETE FROM pipeline_version AS pv USING organism AS o
    WHERE pv.organism_id = @organism::int AND pv.version = @version::bigint AND o.id = pv.organism_id AND o.current_version > pv.version
        AND NOT EXISTS (SELECT FROM lease WHERE organism_id = @organism AND pipeline_version = @version)
        AND NOT EXISTS (SELECT FROM ticket WHERE organism_id = @organism AND pipeline_version = @version)
        AND NOT EXISTS (SELECT FROM quarantine WHERE pipeline_version = @version AND organism_id = @organism)
        AND NOT EXISTS (SELECT FROM result WHERE pipeline_version = @version AND organism_id = @organism)
    RETURNING pv.organism_id
),
turns AS (
    DELETE FROM turn WHERE organism_id IN (SELECT organism_id FROM gone) AND pipeline_version = @version
),
backfills AS (
    DELETE FROM backfill WHERE organism_id IN (SELECT organism_id FROM gone) AND pipeline_version = @version
)
SELECT EXISTS (SELECT FROM gone)
