-- seqlease failing_workers (L9): who fails most, and the last failure of each
SELECT f.worker_id, f.claimed_by, count(*) AS failures, max(f.id), f.at, f.kind, f.reason
FROM failure AS f
WHERE f.at > (SELECT now FROM clock) - @since AND f.organism_id = @organism_id AND f.kind <> 'undelivered'
GROUP BY f.worker_id, f.claimed_by
ORDER BY failures DESC, f.worker_id, f.claimed_by
LIMIT @limit
