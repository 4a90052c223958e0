-- seqlease failures (L9): the newest failures of an entry, of all versions and revisions, by time, and how many there are
SELECT all_of_it, at, pipeline_version, attempt_id, kind, worker_id, claimed_by, counted, reason
FROM (
    SELECT count(*) OVER () AS all_of_it, at, pipeline_version, attempt_id, kind, worker_id, claimed_by, counted, reason
    FROM failure WHERE entry_id = @id::bigint ORDER BY at DESC LIMIT @limit::int
) AS f
ORDER BY at
