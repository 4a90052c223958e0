-- seqlease switch (V1, V5): makes the version the current one, notes when, and ends the backfills of those below
WITH moved AS MATERIALIZED (
    UPDATE organism SET current_version = @version::bigint WHERE id = @organism::int AND current_version = @current::bigint
    RETURNING id
),
noted AS (
    INSERT INTO version_switch (organism_id, pipeline_version) SELECT id, @version FROM moved
),
ended AS (
    DELETE FROM backfill WHERE organism_id IN (SELECT id FROM moved) AND pipeline_version < @version
)
SELECT count(*) FROM moved
