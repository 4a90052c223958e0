-- seqlease standings (L4, V9): where entries of any organism stand as of now, by accession and version; a version of null is the highest; outcome is null while in processing
WITH held AS MATERIALIZED (
    SELECT unnest(l.entry_ids) AS entry_id
    FROM organism AS o JOIN lease AS l ON l.organism_id = o.id AND l.pipeline_version = o.current_version
    WHERE l.lease_until > clock_timestamp()
)
SELECT e.id, e.accession, e.version, o.key, e.group_id,
    CASE
        WHEN e.released_at IS NOT NULL THEN 3
        WHEN e.is_revocation THEN 2
        WHEN r.entry_id IS NOT NULL THEN 2
        WHEN e.id IN (SELECT entry_id FROM held) THEN 1
        ELSE 0
    END AS status,
    CASE WHEN e.is_revocation OR r.entry_id IS NOT NULL OR e.id NOT IN (SELECT entry_id FROM held) THEN coalesce(r.outcome, 0) END AS outcome,
    e.is_revocation
FROM unnest(@accessions::text[], @versions::bigint[]) AS k (accession, version)
CROSS JOIN LATERAL (
    SELECT id, accession, version, organism_id, group_id, revision, released_at, is_revocation FROM entry
    WHERE accession = k.accession AND version = coalesce(k.version, version) ORDER BY version DESC LIMIT 1
) AS e
CROSS JOIN LATERAL (SELECT key, current_version FROM organism WHERE id = e.organism_id OFFSET 0) AS o
LEFT JOIN LATERAL (
    SELECT entry_id, outcome FROM result
    WHERE pipeline_version = o.current_version AND entry_id = e.id AND revision = e.revision OFFSET 0
) AS r ON true
ORDER BY e.accession, e.version
