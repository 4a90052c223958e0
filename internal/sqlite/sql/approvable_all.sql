-- seqlease approvable_all (L12, V9): so many of what is processed and good enough, and the filters take
SELECT s.id, s.accession, s.version
FROM entry_state AS s
WHERE s.organism_id = @organism_id AND s.row_released_at IS NULL AND s.released_at IS NULL
  AND (s.is_revocation OR s.outcome = 'NO_ISSUES' OR (s.outcome = 'HAS_WARNINGS' AND @scope = 'ALL'))
  AND (@group_ids IS NULL OR s.group_id IN (SELECT value FROM json_each(@group_ids)))
  AND (@submitters IS NULL OR s.submitter IN (SELECT value FROM json_each(@submitters)))
LIMIT @limit
