-- seqlease spent (L9): tickets that are never claimed again
SELECT o.key, t.pipeline_version, e.accession, e.version, e.id, e.revision, t.attempts, t.hand_outs
FROM live_version AS p
CROSS JOIN ticket AS t ON t.organism_id = p.organism_id AND t.pipeline_version = p.version AND t.lane = 4
CROSS JOIN entry AS e ON e.id = t.entry_id
CROSS JOIN organism AS o ON o.id = t.organism_id
LIMIT @limit
