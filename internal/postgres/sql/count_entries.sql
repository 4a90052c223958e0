-- seqlease count_entries (L4, V9): entries by status and outcome as of now; leases past their end don't count
WITH held AS MATERIALIZED (
    SELECT unnest(l.entry_ids) AS entry_id
    FROM organism AS o JOIN lease AS l ON l.organism_id = o.id AND l.pipeline_version = o.current_version
    WHERE o.id = @organism::int AND l.lease_until > now()
)
-- Most entries of a database are released, and of those the results aren't looked at.
SELECT 3 AS status, 0 AS outcome, count(*) AS entries
FROM entry
WHERE organism_id = @organism AND released_at IS NOT NULL AND (@groups::bigint[] IS NULL OR group_id = ANY (@groups))
UNION ALL
(
    SELECT
        CASE
            WHEN e.is_revocation THEN 2
            WHEN r.entry_id IS NOT NULL THEN 2
            WHEN e.id IN (SELECT entry_id FROM held) THEN 1
            ELSE 0
        END AS status,
        coalesce(r.outcome, 0)::int AS outcome, count(*) AS entries
    FROM entry AS e
    JOIN organism AS o ON o.id = e.organism_id
    LEFT JOIN result AS r ON r.pipeline_version = o.current_version AND r.entry_id = e.id AND r.revision = e.revision
    WHERE e.organism_id = @organism AND e.released_at IS NULL AND (@groups IS NULL OR e.group_id = ANY (@groups))
    GROUP BY 1, 2
)
