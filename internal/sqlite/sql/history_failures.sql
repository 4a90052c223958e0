-- seqlease history_failures (L16): the last failures of an entry, and how many there are
SELECT count(*) OVER (), f.at, f.pipeline_version, f.attempt_id, f.kind, f.worker_id, f.claimed_by, f.counted, f.reason
FROM failure AS f
WHERE f.entry_id = @entry_id
ORDER BY f.at DESC, f.id DESC
LIMIT @limit
