-- seqlease failures_of (L9): the last failures of each entry under a pipeline version, newest first; revision 0 means any
SELECT k.n, f.at, f.pipeline_version, f.attempt_id, f.kind, f.worker_id, f.claimed_by, f.counted, f.reason
FROM unnest(@ids::bigint[], @versions::bigint[], @revisions::int[]) WITH ORDINALITY AS k (id, version, revision, n)
CROSS JOIN LATERAL (
    SELECT at, pipeline_version, attempt_id, kind, worker_id, claimed_by, counted, reason
    FROM failure
    WHERE entry_id = k.id AND pipeline_version = k.version AND k.revision IN (0, revision)
    ORDER BY at DESC LIMIT @limit::int
) AS f
ORDER BY k.n, f.at DESC
