-- seqlease bump_released (L13): counts a change of the released data of some organisms, or of all; the last statement of its transaction
WITH counter AS MATERIALIZED (
    SELECT organism_id, bucket FROM change
    WHERE scope = 0 AND bucket = pg_backend_pid() % 16 AND (@organisms::int[] IS NULL OR organism_id = ANY (@organisms))
    ORDER BY organism_id FOR NO KEY UPDATE
)
UPDATE change AS c SET n = c.n + 1, nonce = (random() * 9e18)::bigint
FROM counter
WHERE c.organism_id = counter.organism_id AND c.scope = 0 AND c.bucket = counter.bucket
