-- seqlease find_blocker (V5): of the next results of the current version, the first without errors whose entry has none without errors under the candidate, and isn't of a revoked accession; results are told by the keys of two indexes
-- An edit removes results, so that those which are there are of present revisions.
WITH page AS MATERIALIZED (
    SELECT entry_id, organism_id FROM result
    WHERE pipeline_version = @current::bigint AND entry_id > @after::bigint ORDER BY entry_id LIMIT @limit::int
),
-- Another organism's results may lie between: the span has only as much as is needed.
span AS MATERIALIZED (
    SELECT min(entry_id) AS first_id, max(entry_id) AS last_id FROM page WHERE organism_id = @organism::int
),
processed AS MATERIALIZED (
    SELECT r.entry_id FROM span
    CROSS JOIN LATERAL (
        SELECT entry_id FROM result
        WHERE pipeline_version = @version::bigint AND entry_id BETWEEN span.first_id AND span.last_id LIMIT @limit + 1
    ) AS r
),
few AS MATERIALIZED (
    SELECT count(*) <= @limit AS processed FROM processed
),
failed AS MATERIALIZED (
    SELECT v.version, r.entry_id FROM span
    CROSS JOIN (VALUES (@current), (@version)) AS v (version)
    CROSS JOIN LATERAL (
        SELECT entry_id FROM result
        WHERE pipeline_version = v.version AND entry_id BETWEEN span.first_id AND span.last_id AND outcome = 2 AND organism_id = @organism OFFSET 0
    ) AS r
),
lacking AS MATERIALIZED (
    SELECT p.entry_id FROM page AS p
    WHERE p.organism_id = @organism
        AND (CASE WHEN (SELECT processed FROM few) THEN p.entry_id NOT IN (SELECT entry_id FROM processed)
                ELSE NOT EXISTS (SELECT FROM result WHERE pipeline_version = @version AND entry_id = p.entry_id OFFSET 0) END
            OR p.entry_id IN (SELECT entry_id FROM failed WHERE version = @version))
        AND p.entry_id NOT IN (SELECT entry_id FROM failed WHERE version = @current)
)
SELECT page.looked, page.last_id, coalesce((
    SELECT l.entry_id
    FROM (SELECT entry_id FROM lacking ORDER BY entry_id OFFSET 0) AS l
    CROSS JOIN LATERAL (SELECT accession, version FROM entry WHERE id = l.entry_id OFFSET 0) AS e
    WHERE NOT EXISTS (
        SELECT FROM (SELECT is_revocation, released_at FROM entry WHERE accession = e.accession AND version > e.version OFFSET 0) AS newer
        WHERE newer.is_revocation AND newer.released_at IS NOT NULL)
    LIMIT 1), 0) AS blocker
FROM (SELECT count(*) AS looked, coalesce(max(entry_id), @after) AS last_id FROM page) AS page
