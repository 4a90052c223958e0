-- bench message_check: results; those with the right size that begin with their number; messages that are left
SELECT count(*), count(*) FILTER (WHERE message_id BETWEEN 1 AND $2::bigint AND octet_length(body) = $1::int
    AND substring(body FROM 1 FOR 8) = int8send(message_id)), (SELECT count(*) FROM message)
FROM result
