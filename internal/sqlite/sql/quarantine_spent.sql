-- seqlease quarantine_spent (L9): of the tickets that are as they were read
WITH r (entry_id, pipeline_version, revision, attempts, hand_outs, attempt_id, reason) AS (VALUES @rows)
INSERT INTO quarantine (pipeline_version, entry_id, organism_id, revision, at, put_by, attempts, hand_outs, attempt_id, reason)
SELECT t.pipeline_version, t.entry_id, t.organism_id, e.revision, @now, '', t.attempts, t.hand_outs, r.attempt_id, r.reason
FROM r
CROSS JOIN ticket AS t ON t.pipeline_version = r.pipeline_version AND t.entry_id = r.entry_id
CROSS JOIN entry AS e ON e.id = t.entry_id AND e.revision = r.revision
WHERE r.entry_id IS NOT NULL AND t.attempts = r.attempts AND t.hand_outs = r.hand_outs
ON CONFLICT (pipeline_version, entry_id) DO UPDATE
SET revision = excluded.revision, at = excluded.at, put_by = excluded.put_by, attempts = excluded.attempts,
    hand_outs = excluded.hand_outs, attempt_id = excluded.attempt_id, reason = excluded.reason
