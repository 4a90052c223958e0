-- seqlease highest (L4, V9): the highest version of each accession in the order given, version 0 where there is none; status as in entry_states
WITH held AS MATERIALIZED (
    SELECT unnest(l.entry_ids) AS entry_id
    FROM organism AS o JOIN lease AS l ON l.organism_id = o.id AND l.pipeline_version = o.current_version
    WHERE l.lease_until > clock_timestamp()
)
SELECT k.accession, coalesce(e.id, 0) AS id, coalesce(e.version, 0) AS version, coalesce(o.key, '') AS organism, coalesce(e.group_id, 0) AS group_id,
    CASE
        WHEN e.released_at IS NOT NULL THEN 3
        WHEN e.is_revocation THEN 2
        WHEN r.entry_id IS NOT NULL THEN 2
        WHEN e.id IN (SELECT entry_id FROM held) THEN 1
        ELSE 0
    END AS status
FROM unnest(@accessions::text[]) WITH ORDINALITY AS k (accession, n)
LEFT JOIN LATERAL (
    SELECT id, version, organism_id, group_id, revision, released_at, is_revocation
    FROM entry WHERE accession = k.accession ORDER BY version DESC LIMIT 1
) AS e ON true
LEFT JOIN LATERAL (SELECT key, current_version FROM organism WHERE id = e.organism_id OFFSET 0) AS o ON true
LEFT JOIN LATERAL (
    SELECT entry_id FROM result
    WHERE e.released_at IS NULL AND pipeline_version = o.current_version AND entry_id = e.id AND revision = e.revision OFFSET 0
) AS r ON true
ORDER BY k.n
