-- seqlease read_submitted (L4, L12): what was submitted with entry versions as people see them, by accession and version
WITH held AS MATERIALIZED (
    SELECT unnest(l.entry_ids) AS entry_id
    FROM organism AS o JOIN lease AS l ON l.organism_id = o.id AND l.pipeline_version = o.current_version
    WHERE o.id = @organism::int AND l.lease_until > now() AND @statuses::int[] IS NOT NULL
)
SELECT e.accession, e.version, e.submission_id, e.submitter, e.is_revocation, e.dictionary_id, e.submitted
FROM entry AS e
JOIN organism AS o ON o.id = e.organism_id
LEFT JOIN result AS r
    ON @statuses IS NOT NULL AND r.pipeline_version = o.current_version AND r.entry_id = e.id AND r.revision = e.revision
WHERE e.organism_id = @organism
    AND (@groups::bigint[] IS NULL OR e.group_id = ANY (@groups))
    -- The first of these is for the index.
    AND (@accessions::text[] IS NULL OR e.accession = ANY (@accessions))
    AND (@accessions IS NULL OR (e.accession, e.version) IN (
        SELECT k.accession, k.version FROM unnest(@accessions, @versions::bigint[]) AS k (accession, version)))
    AND (@statuses IS NULL OR CASE
        WHEN e.released_at IS NOT NULL THEN 3
        WHEN e.is_revocation THEN 2
        WHEN r.entry_id IS NOT NULL THEN 2
        WHEN e.id IN (SELECT entry_id FROM held) THEN 1
        ELSE 0
    END = ANY (@statuses))
ORDER BY e.accession, e.version
