-- seqlease list_unreleased (L4): what list answers for states of entries that aren't released, from these alone: where most are released, sorting the others is less work
WITH held AS (
    SELECT d.entry_id
    FROM lease AS l
    CROSS JOIN leased AS d ON d.attempt_id = l.attempt_id
    WHERE l.organism_id = @organism_id AND l.pipeline_version = @pipeline_version AND l.lease_until > @now
),
page AS MATERIALIZED (
    SELECT e.id
    FROM published_entry AS e
    WHERE e.organism_id = @organism_id AND e.row_released_at IS NULL AND e.released_at IS NULL
      AND (@group_ids IS NULL OR e.group_id IN (SELECT value FROM json_each(@group_ids)))
      AND CASE WHEN e.is_revocation THEN 'NO_ISSUES'
               ELSE coalesce((SELECT r.outcome FROM result AS r
                              WHERE r.pipeline_version = @pipeline_version AND r.entry_id = e.id AND r.revision = e.revision),
                             CASE WHEN e.id IN (SELECT entry_id FROM held) THEN 'IN_PROCESSING' ELSE 'RECEIVED' END)
          END IN (SELECT value FROM json_each(@states))
    ORDER BY +e.accession, +e.version -- from the index of what is not released, and sorted
    LIMIT @limit OFFSET @offset
)
SELECT e.accession, e.version, FALSE, e.is_revocation,
       (SELECT r.outcome FROM result AS r
        WHERE r.pipeline_version = @pipeline_version AND r.entry_id = e.id AND r.revision = e.revision),
       e.id IN (SELECT entry_id FROM held), e.group_id, e.submitter, e.submission_id,
       (SELECT t.terms || coalesce(' ' || t.restricted_until, '') FROM data_use_terms AS t
        WHERE t.accession = e.accession ORDER BY t.change_number DESC LIMIT 1)
FROM page AS p
CROSS JOIN entry AS e ON e.id = p.id
ORDER BY e.accession, e.version
