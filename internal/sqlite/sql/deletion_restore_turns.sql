-- seqlease deletion_restore_turns (L17): the last ranks of the groups are at least those of deletion_restore_runs
INSERT INTO turn (organism_id, pipeline_version, lane, group_id, last_rank)
SELECT w.organism_id, w.pipeline_version, 0, g.value, max(w.rank + w.last_entry_id - w.first_entry_id)
FROM withdrawn_run AS w
CROSS JOIN pipeline_version AS p ON p.organism_id = w.organism_id AND p.version = w.pipeline_version
CROSS JOIN entry AS e ON e.id = w.last_entry_id
CROSS JOIN json_each(json_array(e.group_id, 0)) AS g
WHERE w.upload_id = @upload_id
GROUP BY w.organism_id, w.pipeline_version, g.value
ON CONFLICT (organism_id, pipeline_version, lane, group_id) DO UPDATE SET last_rank = max(last_rank, excluded.last_rank)
