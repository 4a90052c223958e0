-- seqlease failed_results (L16): present results with errors, by entry id
SELECT r.entry_id, e.accession, e.version, r.dictionary_id, r.body
FROM organism AS o
JOIN result AS r ON r.pipeline_version = coalesce(nullif(@version::bigint, 0), o.current_version) AND r.entry_id > @after::bigint
    AND r.organism_id = o.id AND r.outcome = 2
CROSS JOIN LATERAL (SELECT accession, version, revision FROM entry WHERE id = r.entry_id OFFSET 0) AS e
WHERE o.id = @organism::int AND e.revision = r.revision
ORDER BY r.entry_id LIMIT @limit::int
