-- seqlease deletion_still (L4, V9): as deletable_all, of the entries of a part
SELECT s.id
FROM upload_run AS n
CROSS JOIN entry_state AS s ON s.id BETWEEN n.first_entry_id AND n.last_entry_id
WHERE n.upload_id = @upload_id AND n.first_entry_id BETWEEN @first_entry_id AND @last_entry_id
  AND s.organism_id = @organism_id AND s.row_released_at IS NULL AND s.released_at IS NULL
  AND CASE @scope
          WHEN 'ALL' THEN s.is_revocation OR s.outcome IS NOT NULL OR coalesce(s.lease_until, 0) <= @now
          WHEN 'PROCESSED_WITH_ERRORS' THEN NOT s.is_revocation AND s.outcome = 'HAS_ERRORS'
          WHEN 'PROCESSED_WITH_WARNINGS' THEN NOT s.is_revocation AND s.outcome = 'HAS_WARNINGS'
      END
  AND (@group_ids IS NULL OR s.group_id IN (SELECT value FROM json_each(@group_ids)))
