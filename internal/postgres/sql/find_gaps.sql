-- seqlease find_gaps (L1, V4): entries by id, and whether one has neither ticket, lease nor present result for a live version whose backfill is complete, as one snapshot shows it
WITH page AS MATERIALIZED (
    SELECT id, organism_id, revision, is_revocation FROM entry WHERE id > @after::bigint ORDER BY id LIMIT @limit::int
),
held AS MATERIALIZED (
    SELECT pipeline_version, unnest(entry_ids) AS entry_id FROM lease
)
SELECT p.id, p.revision, NOT p.is_revocation AND EXISTS (
    SELECT FROM organism AS o
    JOIN pipeline_version AS pv ON pv.organism_id = o.id AND pv.version >= o.current_version
    WHERE o.id = p.organism_id
        AND NOT EXISTS (SELECT FROM backfill WHERE organism_id = o.id AND pipeline_version = pv.version)
        AND NOT EXISTS (SELECT FROM ticket WHERE pipeline_version = pv.version AND entry_id = p.id OFFSET 0)
        AND NOT EXISTS (SELECT FROM result WHERE pipeline_version = pv.version AND entry_id = p.id AND revision = p.revision OFFSET 0)
        AND (pv.version, p.id) NOT IN (SELECT pipeline_version, entry_id FROM held)
) AS gap
FROM page AS p ORDER BY p.id
