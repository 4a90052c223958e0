-- seqlease quarantine_of (L9): where an entry is in quarantine and why, by version
SELECT q.entry_id, e.accession, e.version, q.pipeline_version, q.at, q.operator, q.attempts, q.hand_outs, q.reason
FROM quarantine AS q
CROSS JOIN LATERAL (SELECT accession, version FROM entry WHERE id = q.entry_id OFFSET 0) AS e
WHERE q.organism_id = @organism::int AND q.entry_id = @id::bigint
ORDER BY q.pipeline_version
