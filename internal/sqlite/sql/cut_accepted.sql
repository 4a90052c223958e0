-- seqlease cut_accepted (L3): entries that a result was accepted of leave their leases
DELETE FROM leased
WHERE pipeline_version = @pipeline_version AND entry_id IN (SELECT value FROM json_each(@entry_ids))
