-- seqlease list_counts (L4): the counts of everything that the organism and group filter take, from indexes; results are looked up only of entries that aren't released
SELECT w.fine, w.warned, w.failed, w.entries, h.entries, a.entries
FROM (
    SELECT count(*) AS entries
    FROM published_entry AS e
    WHERE e.organism_id = @organism_id
      AND (@group_ids IS NULL OR e.group_id IN (SELECT value FROM json_each(@group_ids)))
) AS a
CROSS JOIN (
    SELECT count(*) AS entries,
           count(*) FILTER (WHERE e.is_revocation OR r.outcome = 'NO_ISSUES') AS fine,
           count(*) FILTER (WHERE r.outcome = 'HAS_WARNINGS') AS warned,
           count(*) FILTER (WHERE r.outcome = 'HAS_ERRORS') AS failed
    FROM published_entry AS e
    LEFT JOIN result AS r ON r.pipeline_version = @pipeline_version AND r.entry_id = e.id AND r.revision = e.revision
    WHERE e.organism_id = @organism_id AND e.row_released_at IS NULL AND e.released_at IS NULL
      AND (@group_ids IS NULL OR e.group_id IN (SELECT value FROM json_each(@group_ids)))
) AS w
CROSS JOIN (
    SELECT count(*) AS entries
    FROM lease AS l
    CROSS JOIN leased AS d ON d.attempt_id = l.attempt_id
    CROSS JOIN published_entry AS e ON e.id = d.entry_id AND e.released_at IS NULL
    WHERE l.organism_id = @organism_id AND l.pipeline_version = @pipeline_version AND l.lease_until > @now
      AND (@group_ids IS NULL OR e.group_id IN (SELECT value FROM json_each(@group_ids)))
      AND NOT EXISTS (SELECT 1 FROM result AS r
                      WHERE r.pipeline_version = @pipeline_version AND r.entry_id = e.id AND r.revision = e.revision)
) AS h
