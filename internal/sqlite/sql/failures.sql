-- seqlease failures (L9): the last failures of each of [[entry id, pipeline version, revision],…], newest first
SELECT k.key, f.at, f.pipeline_version, f.attempt_id, f.kind, f.worker_id, f.claimed_by, f.counted, f.reason
FROM json_each(@keys) AS k
CROSS JOIN failure AS f
    ON f.id IN (SELECT x.id FROM failure AS x
                WHERE x.entry_id = k.value ->> 0 AND x.pipeline_version = k.value ->> 1 AND x.revision = k.value ->> 2
                ORDER BY x.at DESC, x.id DESC LIMIT @limit)
ORDER BY k.key, f.at DESC, f.id DESC
