-- seqlease peek_queue (L14, L16): the mark of a version's queue and the clock, without looking for work
SELECT o.current_version, pv.version IS NOT NULL AS registered, o.paused OR coalesce(pv.paused, false) AS paused, now() AS now,
    (SELECT lpad(sum(n)::text, 19, '0') || '-' || left(md5(string_agg(nonce::text, ',' ORDER BY bucket)), 16)
        FROM change WHERE organism_id = o.id AND scope = @version::bigint) AS mark
FROM organism AS o
LEFT JOIN pipeline_version AS pv ON pv.organism_id = o.id AND pv.version = @version::bigint
WHERE o.id = @organism::int
