-- seqlease approvable_listed (V9): as approvable_all, all of the listed entries
SELECT s.id, s.accession, s.version
FROM json_each(@entries) AS v
CROSS JOIN entry_state AS s ON s.accession = v.value ->> 0 AND s.version = v.value ->> 1
WHERE s.organism_id = @organism_id AND s.released_at IS NULL
  AND (s.is_revocation OR s.outcome = 'NO_ISSUES' OR (s.outcome = 'HAS_WARNINGS' AND @scope = 'ALL'))
  AND (@group_ids IS NULL OR s.group_id IN (SELECT value FROM json_each(@group_ids)))
  AND (@submitters IS NULL OR s.submitter IN (SELECT value FROM json_each(@submitters)))
