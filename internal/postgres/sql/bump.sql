-- seqlease bump (L13, L14): counts a change of the live queues or of the released data; the last statement of its transaction
WITH counter AS MATERIALIZED (
    SELECT c.scope, c.bucket FROM change AS c
    JOIN organism AS o ON o.id = c.organism_id
    WHERE c.organism_id = @organism::int AND c.bucket = pg_backend_pid() % 16
        AND CASE WHEN c.scope = 0 THEN @released::boolean ELSE @queues::boolean AND c.scope >= o.current_version END
    ORDER BY c.scope FOR NO KEY UPDATE OF c
)
UPDATE change AS c SET n = c.n + 1, nonce = (random() * 9e18)::bigint
FROM counter
WHERE c.organism_id = @organism AND c.scope = counter.scope AND c.bucket = counter.bucket
