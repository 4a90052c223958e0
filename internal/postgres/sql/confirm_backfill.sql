-- seqlease confirm_backfill (V3, L2, L14): a fresh snapshot takes the tickets back of entries that came into a lease meanwhile, which nobody can any more; counts the change
WITH held AS MATERIALIZED (
    SELECT unnest(entry_ids) AS entry_id FROM lease WHERE organism_id = @organism::int AND pipeline_version = @version::bigint
),
taken_back AS MATERIALIZED (
    DELETE FROM ticket WHERE ctid = ANY (ARRAY(
        SELECT t.ctid FROM (SELECT entry_id FROM held INTERSECT SELECT unnest(@ids::bigint[])) AS k
        CROSS JOIN LATERAL (SELECT ctid FROM ticket WHERE pipeline_version = @version AND entry_id = k.entry_id OFFSET 0) AS t))
    RETURNING entry_id
),
bump AS (
    UPDATE change SET n = n + 1, nonce = (random() * 9e18)::bigint
    WHERE organism_id = @organism AND scope = @version AND bucket = pg_backend_pid() % 16
)
SELECT count(*) FROM taken_back
