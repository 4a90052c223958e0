-- bench message_claim: a queue of this kind knows no attempts
WITH head AS MATERIALIZED (
    SELECT id FROM message
    WHERE visible_at <= clock_timestamp() AND $1::uuid IS NOT NULL
    ORDER BY id LIMIT 100 FOR UPDATE SKIP LOCKED
)
UPDATE message AS m SET visible_at = clock_timestamp() + interval '1 hour', read_count = m.read_count + 1
FROM head WHERE m.id = head.id
RETURNING m.id, m.document
