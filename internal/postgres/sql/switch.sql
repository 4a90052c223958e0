-- seqlease switch (V1, V5): makes the version the current one unless it was paused, notes when, and ends the backfills of those below; it doesn't wait for an approval that has the organism locked, as others wait for this
WITH o AS MATERIALIZED (
    SELECT id FROM organism WHERE id = @organism::int AND current_version = @current::bigint FOR NO KEY UPDATE NOWAIT
),
pv AS MATERIALIZED (
    SELECT organism_id FROM pipeline_version WHERE organism_id = @organism AND version = @version::bigint AND NOT paused FOR SHARE NOWAIT
),
moved AS MATERIALIZED (
    UPDATE organism SET current_version = @version WHERE id IN (SELECT id FROM o) AND id IN (SELECT organism_id FROM pv)
    RETURNING id
),
noted AS (
    INSERT INTO version_switch (organism_id, pipeline_version) SELECT id, @version FROM moved
),
ended AS (
    DELETE FROM backfill WHERE organism_id IN (SELECT id FROM moved) AND pipeline_version < @version
)
SELECT count(*) FROM moved
