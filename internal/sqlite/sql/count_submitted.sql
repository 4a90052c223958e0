-- seqlease count_submitted (L4): how many entry versions read_submitted finds
SELECT count(*)
FROM entry_state AS s
WHERE s.organism_id = @organism_id
  AND (@group_ids IS NULL OR s.group_id IN (SELECT value FROM json_each(@group_ids)))
  AND (@entries IS NULL OR s.accession || '.' || s.version IN (SELECT value FROM json_each(@entries)))
  AND (@statuses IS NULL OR CASE WHEN s.released_at IS NOT NULL THEN 'APPROVED_FOR_RELEASE'
                                 WHEN s.is_revocation OR s.outcome IS NOT NULL THEN 'PROCESSED'
                                 WHEN s.lease_until > @now THEN 'IN_PROCESSING'
                                 ELSE 'RECEIVED'
                            END IN (SELECT value FROM json_each(@statuses)))
