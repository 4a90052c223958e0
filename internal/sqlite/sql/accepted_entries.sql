-- seqlease accepted_entries (L3): entries of the lines whose results came from the lease that holds them
WITH r (accession, version) AS (VALUES @rows)
SELECT e.id
FROM r
CROSS JOIN entry AS e ON e.accession = r.accession AND e.version = r.version
CROSS JOIN leased AS d ON d.pipeline_version = @pipeline_version AND d.entry_id = e.id AND d.attempt_id = @attempt_id
CROSS JOIN result AS s ON s.pipeline_version = d.pipeline_version AND s.entry_id = d.entry_id
                      AND s.attempt_id = d.attempt_id AND s.revision = d.revision
