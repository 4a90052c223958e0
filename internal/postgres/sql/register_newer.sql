-- seqlease register_newer (V2): a version above the current one by at most so many, with its change counters and its backfill; also says whether it was missing
WITH o AS MATERIALIZED (
    SELECT id, current_version, @version::bigint > current_version AND @version - current_version <= @ahead::bigint AS allowed
    FROM organism WHERE id = @organism::int FOR SHARE
),
made AS MATERIALIZED (
    INSERT INTO pipeline_version (organism_id, version) SELECT id, @version FROM o WHERE allowed
    ON CONFLICT DO NOTHING
    RETURNING organism_id
),
counters AS (
    INSERT INTO change (organism_id, scope, bucket, nonce)
    SELECT organism_id, @version, bucket, (random() * 9e18)::bigint FROM made, generate_series(0, 15) AS bucket ORDER BY bucket
    ON CONFLICT DO NOTHING
),
unfinished AS (
    INSERT INTO backfill (organism_id, pipeline_version) SELECT organism_id, @version FROM made
    ON CONFLICT DO NOTHING
)
SELECT current_version, allowed, EXISTS (SELECT FROM made) AS registered FROM o
