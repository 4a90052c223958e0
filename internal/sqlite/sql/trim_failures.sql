-- seqlease trim_failures (L16): what went wrong long ago
DELETE FROM failure
WHERE id IN (SELECT f.id FROM failure AS f WHERE f.at < (SELECT now FROM clock) - @keep ORDER BY f.at LIMIT @limit)
