-- seqlease released_mark (L13): the state of what is released of an organism
SELECT lpad(sum(n)::text, 19, '0') || '-' || left(md5(string_agg(nonce::text, ',' ORDER BY bucket)), 16) AS mark
FROM change WHERE organism_id = @organism::int AND scope = 0
