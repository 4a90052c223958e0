-- seqlease register_version (V1): the first pipeline version, the change counters of its queue and of what is released, and the reference
WITH o AS MATERIALIZED (
    SELECT id FROM organism WHERE key = @key::text
),
version AS (
    INSERT INTO pipeline_version (organism_id, version) SELECT id, 1 FROM o ON CONFLICT DO NOTHING
),
counters AS (
    INSERT INTO change (organism_id, scope, bucket, nonce)
    SELECT o.id, scope, bucket, (random() * 9e18)::bigint
    FROM o, generate_series(0, 1) AS scope, generate_series(0, 15) AS bucket
    ORDER BY scope, bucket
    ON CONFLICT DO NOTHING
)
INSERT INTO dictionary (organism_id, digest, bytes)
SELECT id, @digest::bytea, @bytes::bytea FROM o WHERE octet_length(@bytes) > 0
ON CONFLICT DO NOTHING
