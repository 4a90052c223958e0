-- seqlease find_blocker (V5): of the next results of the current version, by their keys: how many, the last, and the first without errors whose entry has none without errors under the candidate, and isn't of a revoked accession
WITH page AS MATERIALIZED (
    SELECT r.entry_id FROM result AS r WHERE r.pipeline_version = @current AND r.entry_id > @after ORDER BY r.entry_id LIMIT @limit
)
SELECT count(*), coalesce(max(p.entry_id), @after),
       coalesce((SELECT p.entry_id
                 FROM page AS p
                 WHERE (NOT EXISTS (SELECT 1 FROM result AS n WHERE n.pipeline_version = @pipeline_version AND n.entry_id = p.entry_id)
                        OR EXISTS (SELECT 1 FROM result AS n INDEXED BY result_with_errors
                                   WHERE n.pipeline_version = @pipeline_version AND n.entry_id = p.entry_id AND n.outcome = 'HAS_ERRORS'))
                   AND NOT EXISTS (SELECT 1 FROM result AS c INDEXED BY result_with_errors
                                   WHERE c.pipeline_version = @current AND c.entry_id = p.entry_id AND c.outcome = 'HAS_ERRORS')
                   AND EXISTS (SELECT 1
                               FROM entry AS e
                               CROSS JOIN result AS c ON c.pipeline_version = @current AND c.entry_id = e.id AND c.revision = e.revision
                               WHERE e.id = p.entry_id AND e.organism_id = @organism_id)
                   AND NOT EXISTS (SELECT 1 FROM revoked AS v WHERE v.entry_id = p.entry_id)
                 ORDER BY p.entry_id LIMIT 1), 0)
FROM page AS p
