-- seqlease stirred (L4, L14, L16): for each awaited queue whether something may have become claimable since its mark was read
SELECT coalesce(o.current_version > a.version
    OR (SELECT lpad(sum(n)::text, 19, '0') || '-' || left(md5(string_agg(nonce::text, ',' ORDER BY bucket)), 16)
        FROM change WHERE organism_id = o.id AND scope = a.version) <> a.mark
    OR NOT o.paused AND NOT pv.paused AND (EXISTS (
            SELECT FROM lease WHERE organism_id = o.id AND pipeline_version = a.version AND lease_until <= now())
        OR @tickets::boolean AND EXISTS (
            SELECT FROM ticket WHERE organism_id = o.id AND pipeline_version = a.version AND lane < 4)),
    true) AS stirred
FROM unnest(@organisms::text[], @versions::bigint[], @marks::text[]) WITH ORDINALITY AS a (organism, version, mark, n)
LEFT JOIN organism AS o ON o.key = a.organism
LEFT JOIN pipeline_version AS pv ON pv.organism_id = o.id AND pv.version = a.version
ORDER BY a.n
