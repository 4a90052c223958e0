-- seqlease history_quarantine (L9): where an entry is in quarantine and why, by version
SELECT q.entry_id, e.accession, e.version, q.pipeline_version, q.at, q.put_by, q.attempts, q.hand_outs, q.reason
FROM quarantine AS q
CROSS JOIN entry AS e ON e.id = q.entry_id
WHERE q.organism_id = @organism_id AND q.entry_id = @entry_id
ORDER BY q.pipeline_version
