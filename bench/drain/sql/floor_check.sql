-- bench floor_check: results; those with the right size that begin with their number; nothing waits
SELECT count(*), count(*) FILTER (WHERE entry_id BETWEEN 1 AND $2::bigint AND octet_length(body) = $1::int
    AND substring(body FROM 1 FOR 8) = int8send(entry_id)), 0
FROM result
