-- seqlease failing_workers (L9): who fails most, and the last failure of each; only what cost an attempt or was refused, and not what the server couldn't read
SELECT f.worker_id, f.claimed_by, count(*) AS failures, max(f.id), f.at, f.kind, f.reason
FROM failure AS f
WHERE f.at > (SELECT now FROM clock) - @since AND f.organism_id = @organism_id
  AND EXISTS (SELECT 1 FROM published_entry AS e WHERE e.id = f.entry_id)
  AND (f.counted AND f.kind <> 'damaged' OR f.kind = 'refused')
GROUP BY f.worker_id, f.claimed_by
ORDER BY failures DESC, f.worker_id, f.claimed_by
LIMIT @limit
