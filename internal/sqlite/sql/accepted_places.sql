-- seqlease accepted_places (L3): places of the lines, [["ACC",version,"attempt id",…],…], whose results came from their leases
SELECT d.pipeline_version, d.entry_id, lower(hex(d.attempt_id))
FROM json_each(@lines) AS v
CROSS JOIN entry AS e ON e.accession = v.value ->> 0 AND e.version = v.value ->> 1
CROSS JOIN leased AS d ON d.pipeline_version = @pipeline_version AND d.entry_id = e.id AND d.attempt_id = unhex(v.value ->> 2)
CROSS JOIN result AS r ON r.pipeline_version = d.pipeline_version AND r.entry_id = d.entry_id
                      AND r.attempt_id = d.attempt_id AND r.revision = d.revision
