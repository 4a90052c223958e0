-- seqlease list_counts (L4): the counts of everything that the organism and group filter take, in one pass without sorting
SELECT count(*) FILTER (WHERE s.released_at IS NULL AND NOT s.is_revocation AND s.outcome IS NULL AND s.lease_until IS NOT NULL AND s.lease_until > @now),
       count(*) FILTER (WHERE s.released_at IS NULL AND (s.is_revocation OR s.outcome IS NOT NULL) AND coalesce(s.outcome, 'NO_ISSUES') = 'NO_ISSUES'),
       count(*) FILTER (WHERE s.released_at IS NULL AND s.outcome = 'HAS_WARNINGS'),
       count(*) FILTER (WHERE s.released_at IS NULL AND s.outcome = 'HAS_ERRORS'),
       count(*) FILTER (WHERE s.released_at IS NOT NULL),
       count(*)
FROM entry_state AS s
WHERE s.organism_id = @organism_id
  AND (@group_ids IS NULL OR s.group_id IN (SELECT value FROM json_each(@group_ids)))
