-- bench message_fill
INSERT INTO message (document) SELECT document FROM unnest($1::bigint[], $2::bytea[]) AS d (n, document) ORDER BY n
