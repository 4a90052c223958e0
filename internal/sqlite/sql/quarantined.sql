-- seqlease quarantined (L9, L16): entries in quarantine, with all versions of the last
SELECT q.entry_id, e.accession, e.version, q.pipeline_version, q.at, q.put_by, q.attempts, q.hand_outs, q.reason, q.revision
FROM organism AS o
CROSS JOIN quarantine AS q ON q.organism_id = o.id AND q.pipeline_version >= o.current_pipeline_version
CROSS JOIN published_entry AS e ON e.id = q.entry_id
WHERE o.id = @organism_id AND q.entry_id > @after
  AND q.entry_id <= (SELECT max(n.entry_id) FROM (SELECT x.entry_id FROM quarantine AS x
                                                  WHERE x.organism_id = @organism_id AND x.pipeline_version >= o.current_pipeline_version AND x.entry_id > @after
                                                    AND EXISTS (SELECT 1 FROM published_entry AS p WHERE p.id = x.entry_id)
                                                  GROUP BY x.entry_id
                                                  ORDER BY x.entry_id
                                                  LIMIT @limit) AS n)
ORDER BY q.entry_id, q.pipeline_version
