-- seqlease register_version (V1): the current pipeline version, which at first is 1, the change counters of its queue and of what is released, and the reference
WITH o AS MATERIALIZED (
    SELECT id, current_version FROM organism WHERE key = @key::text
),
version AS (
    INSERT INTO pipeline_version (organism_id, version) SELECT id, current_version FROM o ON CONFLICT DO NOTHING
),
counters AS (
    INSERT INTO change (organism_id, scope, bucket, nonce)
    SELECT o.id, scope, bucket, (random() * 9e18)::bigint
    FROM o, unnest(ARRAY[0, current_version]) AS scope, generate_series(0, 15) AS bucket
    ORDER BY scope, bucket
    ON CONFLICT DO NOTHING
)
INSERT INTO dictionary (organism_id, digest, bytes)
SELECT id, @digest::bytea, @bytes::bytea FROM o WHERE octet_length(@bytes) > 0
ON CONFLICT DO NOTHING
