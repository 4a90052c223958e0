-- seqlease requeue_find (L9, L16): which of the entries are to leave quarantine, but for those that a deletion is about to take, with the attempt ids of their results
SELECT q.pipeline_version, q.entry_id, lower(hex(q.attempt_id))
FROM json_each(@entry_ids) AS n
CROSS JOIN free_entry AS e ON e.id = n.value
CROSS JOIN live_version AS p ON p.organism_id = @organism_id AND (@pipeline_version = 0 OR p.version = @pipeline_version)
CROSS JOIN quarantine AS q ON q.pipeline_version = p.version AND q.entry_id = n.value
WHERE (@contains = '' OR instr(q.reason, @contains) > 0)
  AND (@worker_id = '' OR EXISTS (SELECT 1 FROM failure AS f
                                  WHERE f.entry_id = q.entry_id AND f.pipeline_version = q.pipeline_version AND f.revision = q.revision
                                    AND f.worker_id = @worker_id))
