-- seqlease cut_accepted (L3): an entry whose result came from its lease leaves it
DELETE FROM leased
WHERE attempt_id IN (SELECT unhex(value) FROM json_each(@attempt_ids))
  AND EXISTS (SELECT 1 FROM result AS r WHERE r.pipeline_version = leased.pipeline_version
              AND r.entry_id = leased.entry_id AND r.attempt_id = leased.attempt_id AND r.revision = leased.revision)
