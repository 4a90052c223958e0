-- seqlease read_submitted (L4, L12): what was submitted with entry versions as people see them at @now
SELECT s.accession, s.version, s.submission_id, s.submitter, s.is_revocation, coalesce(d.dictionary_id, 0), d.body
FROM entry_state AS s
LEFT JOIN submitted AS d ON d.entry_id = s.id AND d.revision = s.revision
WHERE s.organism_id = @organism_id
  AND (@group_ids IS NULL OR s.group_id IN (SELECT value FROM json_each(@group_ids)))
  AND (@entries IS NULL OR s.accession || '.' || s.version IN (SELECT value FROM json_each(@entries)))
  AND (@statuses IS NULL OR CASE WHEN s.released_at IS NOT NULL THEN 'APPROVED_FOR_RELEASE'
                                 WHEN s.is_revocation OR s.outcome IS NOT NULL THEN 'PROCESSED'
                                 WHEN s.lease_until > @now THEN 'IN_PROCESSING'
                                 ELSE 'RECEIVED'
                            END IN (SELECT value FROM json_each(@statuses)))
ORDER BY s.accession, s.version
