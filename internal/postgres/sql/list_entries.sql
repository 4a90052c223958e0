-- seqlease list_entries (L4, V9): entries as people see them, by accession and version; outcome is null while in processing
WITH held AS MATERIALIZED (
    SELECT unnest(l.entry_ids) AS entry_id
    FROM organism AS o JOIN lease AS l ON l.organism_id = o.id AND l.pipeline_version = o.current_version
    WHERE o.id = @organism::int AND l.lease_until > now()
)
SELECT s.accession, s.version, s.status, s.outcome, s.group_id, s.submitter, s.is_revocation, s.submission_id,
    coalesce(t.restricted, false) AS restricted, t.restricted_until
FROM (
    SELECT e.accession, e.version, e.group_id, e.submitter, e.is_revocation, e.submission_id,
        CASE
            WHEN e.released_at IS NOT NULL THEN 3
            WHEN e.is_revocation THEN 2
            WHEN r.entry_id IS NOT NULL THEN 2
            WHEN e.id IN (SELECT entry_id FROM held) THEN 1
            ELSE 0
        END AS status,
        CASE WHEN e.is_revocation OR r.entry_id IS NOT NULL OR e.id NOT IN (SELECT entry_id FROM held) THEN coalesce(r.outcome, 0) END AS outcome
    FROM entry AS e
    JOIN organism AS o ON o.id = e.organism_id
    LEFT JOIN result AS r ON r.pipeline_version = o.current_version AND r.entry_id = e.id AND r.revision = e.revision
    WHERE e.organism_id = @organism AND (@groups::bigint[] IS NULL OR e.group_id = ANY (@groups))
        -- What the statuses say anyway, for the indexes.
        AND (NOT @unreleased::boolean OR e.released_at IS NULL) AND (NOT @released::boolean OR e.released_at IS NOT NULL)
) AS s
LEFT JOIN LATERAL (
    SELECT restricted, restricted_until FROM data_use_terms WHERE accession = s.accession ORDER BY number DESC LIMIT 1
) AS t ON true
WHERE (@statuses::int[] IS NULL OR s.status = ANY (@statuses))
    AND (@outcomes::int[] IS NULL OR s.status <> 2 OR s.outcome = ANY (@outcomes))
ORDER BY s.accession, s.version
OFFSET @skip::bigint LIMIT nullif(@count::bigint, 0)
