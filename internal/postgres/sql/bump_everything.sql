-- seqlease bump_everything (L13, L14): counts a change of every queue and of all that is released; the last statement of its transaction
WITH counter AS MATERIALIZED (
    SELECT organism_id, scope, bucket FROM change ORDER BY organism_id, scope, bucket FOR NO KEY UPDATE
)
UPDATE change AS c SET n = c.n + 1, nonce = (random() * 9e18)::bigint
FROM counter AS k WHERE c.organism_id = k.organism_id AND c.scope = k.scope AND c.bucket = k.bucket
