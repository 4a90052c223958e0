-- seqlease released_head (L12, L13): how much is released, its mark and the clock; of the same snapshot as read_released
SELECT (SELECT count(*) FROM entry WHERE organism_id = @organism::int AND released_at IS NOT NULL) AS entries,
    (SELECT lpad(sum(n)::text, 19, '0') || '-' || left(md5(string_agg(nonce::text, ',' ORDER BY bucket)), 16)
        FROM change WHERE organism_id = @organism AND scope = 0) AS mark,
    now() AS now
