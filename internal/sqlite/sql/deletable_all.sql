-- seqlease deletable_all (L4, V9): everything that scope and groups take at @now
SELECT s.id, s.accession, s.version
FROM entry_state AS s
WHERE s.organism_id = @organism_id AND s.row_released_at IS NULL AND s.released_at IS NULL
  AND CASE @scope
          WHEN 'ALL' THEN s.is_revocation OR s.outcome IS NOT NULL OR coalesce(s.lease_until, 0) <= @now
          WHEN 'PROCESSED_WITH_ERRORS' THEN NOT s.is_revocation AND s.outcome = 'HAS_ERRORS'
          WHEN 'PROCESSED_WITH_WARNINGS' THEN NOT s.is_revocation AND s.outcome = 'HAS_WARNINGS'
      END
  AND (@group_ids IS NULL OR s.group_id IN (SELECT value FROM json_each(@group_ids)))
ORDER BY s.accession, s.version
