-- seqlease places_of (L16): where entries, [[pipeline version, entry id, …],…], are leased
SELECT d.pipeline_version, d.entry_id, lower(hex(d.attempt_id))
FROM json_each(@places) AS p
CROSS JOIN leased AS d ON d.pipeline_version = p.value ->> 0 AND d.entry_id = p.value ->> 1
