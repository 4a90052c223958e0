-- seqlease list_counts (L4): the counts of everything that the organism and group filter take
SELECT CASE WHEN s.released_at IS NOT NULL THEN 'APPROVED_FOR_RELEASE'
            WHEN s.is_revocation OR s.outcome IS NOT NULL THEN 'PROCESSED'
            WHEN s.lease_until > @now THEN 'IN_PROCESSING'
            ELSE 'RECEIVED'
       END AS status,
       CASE WHEN s.outcome IS NOT NULL THEN s.outcome
            WHEN s.lease_until > @now THEN ''
            ELSE 'NO_ISSUES'
       END AS result,
       count(*)
FROM entry_state AS s
WHERE s.organism_id = @organism_id
  AND (@group_ids IS NULL OR s.group_id IN (SELECT value FROM json_each(@group_ids)))
GROUP BY status, result
