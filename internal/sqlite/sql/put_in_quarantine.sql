-- seqlease put_in_quarantine (L9, L16): those of the entries that wait or are in processing
INSERT INTO quarantine (pipeline_version, entry_id, organism_id, revision, at, put_by, attempts, hand_outs, attempt_id, reason)
SELECT p.version, e.id, e.organism_id, e.revision, @now, @by, coalesce(t.attempts, d.attempts, 0), coalesce(t.hand_outs, d.hand_outs, 0),
       randomblob(16), @reason
FROM json_each(@entry_ids) AS n
CROSS JOIN published_entry AS e ON e.id = n.value AND e.organism_id = @organism_id AND NOT e.is_revocation
CROSS JOIN live_version AS p ON p.organism_id = e.organism_id AND (@pipeline_version = 0 OR p.version = @pipeline_version)
LEFT JOIN ticket AS t ON t.pipeline_version = p.version AND t.entry_id = e.id
LEFT JOIN leased AS d ON d.pipeline_version = p.version AND d.entry_id = e.id
LEFT JOIN lease AS l ON l.attempt_id = d.attempt_id
WHERE (t.entry_id IS NOT NULL OR d.entry_id IS NOT NULL
       OR e.id <= (SELECT u.last_entry_id FROM ticket_run AS u
                   WHERE u.pipeline_version = p.version AND u.first_entry_id <= e.id
                   ORDER BY u.first_entry_id DESC LIMIT 1)
          AND NOT EXISTS (SELECT 1 FROM result AS r
                          WHERE r.pipeline_version = p.version AND r.entry_id = e.id AND r.revision = e.revision))
  AND (@contains = '' OR EXISTS (SELECT 1 FROM failure AS f
                                 WHERE f.entry_id = e.id AND f.pipeline_version = p.version AND f.revision = e.revision
                                   AND instr(f.reason, @contains) > 0))
  AND (@worker_id = '' OR l.worker_id = @worker_id
       OR EXISTS (SELECT 1 FROM failure AS f
                  WHERE f.entry_id = e.id AND f.pipeline_version = p.version AND f.revision = e.revision AND f.worker_id = @worker_id))
ON CONFLICT (pipeline_version, entry_id) DO UPDATE
SET revision = excluded.revision, at = excluded.at, put_by = excluded.put_by, attempts = excluded.attempts,
    hand_outs = excluded.hand_outs, attempt_id = excluded.attempt_id, reason = excluded.reason
RETURNING pipeline_version, entry_id, lower(hex(attempt_id))
