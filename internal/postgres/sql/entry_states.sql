-- seqlease entry_states (L4, V9): status (0 received, 1 in processing, 2 processed, 3 released), outcome and kind of entries that are locked
WITH held AS MATERIALIZED (
    SELECT unnest(l.entry_ids) AS entry_id
    FROM organism AS o JOIN lease AS l ON l.organism_id = o.id AND l.pipeline_version = o.current_version
    WHERE o.id = @organism::int AND l.lease_until > clock_timestamp()
)
SELECT e.id,
    CASE
        WHEN e.released_at IS NOT NULL THEN 3
        WHEN e.is_revocation THEN 2
        WHEN r.entry_id IS NOT NULL THEN 2
        WHEN e.id IN (SELECT entry_id FROM held) THEN 1
        ELSE 0
    END AS status,
    coalesce(r.outcome, 0) AS outcome, e.is_revocation
FROM unnest(@ids::bigint[]) AS k (id)
CROSS JOIN LATERAL (SELECT id, organism_id, revision, released_at, is_revocation FROM entry WHERE id = k.id OFFSET 0) AS e
CROSS JOIN LATERAL (SELECT current_version FROM organism WHERE id = e.organism_id OFFSET 0) AS o
LEFT JOIN LATERAL (
    SELECT entry_id, outcome FROM result
    WHERE pipeline_version = o.current_version AND entry_id = e.id AND revision = e.revision OFFSET 0
) AS r ON true
