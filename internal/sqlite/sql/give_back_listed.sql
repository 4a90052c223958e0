-- seqlease give_back_listed (L8): the listed entries that the lease holds
SELECT DISTINCT d.pipeline_version, d.entry_id, lower(hex(d.attempt_id))
FROM lease AS l
CROSS JOIN json_each(@entries) AS v
CROSS JOIN entry AS e ON e.accession = v.value ->> 0 AND e.version = v.value ->> 1
CROSS JOIN leased AS d ON d.pipeline_version = l.pipeline_version AND d.entry_id = e.id AND d.attempt_id = l.attempt_id
WHERE l.attempt_id = @attempt_id
