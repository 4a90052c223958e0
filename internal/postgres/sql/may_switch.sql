-- seqlease may_switch (V5): whether the candidate still is one, and none of the entries that wait for it, are held by it or have errors under it has a result without errors under the current version alone, unless its accession is revoked
WITH unfinished AS (
    SELECT entry_id FROM ticket WHERE organism_id = @organism::int AND pipeline_version = @version::bigint
    UNION ALL
    SELECT unnest(entry_ids) FROM lease WHERE organism_id = @organism AND pipeline_version = @version
    UNION ALL
    SELECT entry_id FROM result WHERE pipeline_version = @version AND outcome = 2 AND organism_id = @organism
)
SELECT EXISTS (
    SELECT FROM organism AS o
    JOIN pipeline_version AS pv ON pv.organism_id = o.id AND pv.version = @version
    WHERE o.id = @organism AND o.current_version = @current::bigint AND pv.version > o.current_version AND NOT pv.paused
        AND NOT EXISTS (SELECT FROM backfill WHERE organism_id = o.id AND pipeline_version = pv.version)
) AND NOT EXISTS (
    SELECT FROM unfinished AS u
    CROSS JOIN LATERAL (SELECT outcome FROM result WHERE pipeline_version = @current AND entry_id = u.entry_id OFFSET 0) AS r
    CROSS JOIN LATERAL (SELECT accession, version FROM entry WHERE id = u.entry_id OFFSET 0) AS e
    WHERE r.outcome < 2
        -- One that is processed again has its result still (V9).
        AND NOT EXISTS (SELECT FROM (SELECT outcome FROM result WHERE pipeline_version = @version AND entry_id = u.entry_id OFFSET 0) AS n WHERE outcome < 2)
        AND NOT EXISTS (
            SELECT FROM (SELECT is_revocation, released_at FROM entry WHERE accession = e.accession AND version > e.version OFFSET 0) AS newer
            WHERE newer.is_revocation AND newer.released_at IS NOT NULL)
) AS may
