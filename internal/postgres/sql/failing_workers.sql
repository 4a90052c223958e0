-- seqlease failing_workers (L9, L16): failures by worker and user that cost an attempt or are refusals, except of entries that the server couldn't read
SELECT worker_id, claimed_by, count(*) AS failures, max(at) AS last_at,
    (array_agg(kind ORDER BY at DESC))[1] AS last_kind, (array_agg(reason ORDER BY at DESC))[1] AS last_reason
FROM failure
WHERE organism_id = @organism::int AND at > now() - @since::bigint * interval '1 microsecond' AND (counted AND kind <> 6 OR kind = 4)
GROUP BY worker_id, claimed_by
ORDER BY count(*) DESC, worker_id, claimed_by
LIMIT @limit::int
