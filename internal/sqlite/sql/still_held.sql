-- seqlease still_held (L3): those of the places, [[pipeline version, entry id, attempt id],…], that are as they were read
SELECT d.pipeline_version, d.entry_id, lower(hex(d.attempt_id))
FROM json_each(@places) AS p
CROSS JOIN leased AS d ON d.pipeline_version = p.value ->> 0 AND d.entry_id = p.value ->> 1 AND d.attempt_id = unhex(p.value ->> 2)
