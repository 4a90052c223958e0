-- seqlease end_quarantine (L9): a result that was accepted, and not cut from its lease yet, ends the entry's quarantine
DELETE FROM quarantine
WHERE (pipeline_version, entry_id) IN (
    SELECT d.pipeline_version, d.entry_id
    FROM json_each(@attempt_ids) AS a
    CROSS JOIN leased AS d ON d.attempt_id = unhex(a.value)
    CROSS JOIN result AS r ON r.pipeline_version = d.pipeline_version AND r.entry_id = d.entry_id
                          AND r.attempt_id = d.attempt_id AND r.revision = d.revision)
