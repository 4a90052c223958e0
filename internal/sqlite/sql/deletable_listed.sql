-- seqlease deletable_listed (L4, V9): as deletable_all, of the listed entries
SELECT s.id, s.accession, s.version
FROM json_each(@entries) AS v
CROSS JOIN entry_state AS s ON s.accession = v.value ->> 0 AND s.version = v.value ->> 1
WHERE s.organism_id = @organism_id AND s.released_at IS NULL
  AND CASE @scope
          WHEN 'ALL' THEN s.is_revocation OR s.outcome IS NOT NULL OR coalesce(s.lease_until, 0) <= @now
          WHEN 'PROCESSED_WITH_ERRORS' THEN NOT s.is_revocation AND s.outcome = 'HAS_ERRORS'
          WHEN 'PROCESSED_WITH_WARNINGS' THEN NOT s.is_revocation AND s.outcome = 'HAS_WARNINGS'
      END
  AND (@group_ids IS NULL OR s.group_id IN (SELECT value FROM json_each(@group_ids)))
ORDER BY s.accession, s.version
