-- seqlease list (L4): entries as people see them at @now
SELECT s.accession, s.version,
       CASE WHEN s.released_at IS NOT NULL THEN 'APPROVED_FOR_RELEASE'
            WHEN s.is_revocation OR s.outcome IS NOT NULL THEN 'PROCESSED'
            WHEN s.lease_until > @now THEN 'IN_PROCESSING'
            ELSE 'RECEIVED'
       END AS status,
       CASE WHEN s.outcome IS NOT NULL THEN s.outcome
            WHEN s.lease_until > @now THEN ''
            ELSE 'NO_ISSUES'
       END AS result,
       s.group_id, s.submitter, s.is_revocation, s.submission_id, t.terms, coalesce(t.restricted_until, '')
FROM entry_state AS s
JOIN data_use_terms AS t
    ON t.accession = s.accession
   AND t.change_number = (SELECT max(u.change_number) FROM data_use_terms AS u WHERE u.accession = s.accession)
WHERE s.organism_id = @organism_id
  AND (@group_ids IS NULL OR s.group_id IN (SELECT value FROM json_each(@group_ids)))
  AND (@statuses IS NULL OR status IN (SELECT value FROM json_each(@statuses)))
  AND (@results IS NULL OR status <> 'PROCESSED' OR result IN (SELECT value FROM json_each(@results)))
ORDER BY s.accession, s.version
LIMIT @limit OFFSET @offset
