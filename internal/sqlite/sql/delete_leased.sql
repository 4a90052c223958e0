-- seqlease delete_leased (L10): ends every lease on the entries
DELETE FROM leased
WHERE pipeline_version IN (SELECT p.version FROM pipeline_version AS p WHERE p.organism_id = @organism_id)
  AND entry_id IN (SELECT value FROM json_each(@entry_ids))
RETURNING pipeline_version, entry_id, lower(hex(attempt_id))
