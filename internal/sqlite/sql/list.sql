-- seqlease list (L4): entries as people see them at @now, in the order of the index; what an offset or a filter leaves out is looked at no further than that takes
WITH held AS (
    SELECT d.entry_id
    FROM lease AS l
    CROSS JOIN leased AS d ON d.attempt_id = l.attempt_id
    WHERE l.organism_id = @organism_id AND l.pipeline_version = @pipeline_version AND l.lease_until > @now
)
SELECT e.accession, e.version, e.released_at IS NOT NULL, e.is_revocation,
       (SELECT r.outcome FROM result AS r
        WHERE r.pipeline_version = @pipeline_version AND r.entry_id = e.id AND r.revision = e.revision),
       e.id IN (SELECT entry_id FROM held), e.group_id, e.submitter, e.submission_id,
       (SELECT t.terms || coalesce(' ' || t.restricted_until, '') FROM data_use_terms AS t
        WHERE t.accession = e.accession ORDER BY t.change_number DESC LIMIT 1)
FROM published_entry AS e
WHERE e.organism_id = @organism_id
  AND (@group_ids IS NULL OR e.group_id IN (SELECT value FROM json_each(@group_ids)))
  AND (@states IS NULL
       OR CASE WHEN e.released_at IS NOT NULL THEN 'APPROVED_FOR_RELEASE'
               WHEN e.is_revocation THEN 'NO_ISSUES'
               ELSE coalesce((SELECT r.outcome FROM result AS r
                              WHERE r.pipeline_version = @pipeline_version AND r.entry_id = e.id AND r.revision = e.revision),
                             CASE WHEN e.id IN (SELECT entry_id FROM held) THEN 'IN_PROCESSING' ELSE 'RECEIVED' END)
          END IN (SELECT value FROM json_each(@states)))
ORDER BY e.accession, e.version
LIMIT @limit OFFSET @offset
