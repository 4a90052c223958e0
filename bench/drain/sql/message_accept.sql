-- bench message_accept: results of the messages that are still there; all or, since the division fails, none
WITH done AS (
    DELETE FROM message AS m USING unnest($2::bigint[], $3::bytea[]) AS l (id, body)
    WHERE m.id = l.id AND $1::uuid IS NOT NULL
    RETURNING m.id, l.body
),
stored AS (
    INSERT INTO result (message_id, body) SELECT id, body FROM done RETURNING 1
)
SELECT count(*) / (count(*) = cardinality($2))::int FROM stored
