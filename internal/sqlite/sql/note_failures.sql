-- seqlease note_failures (L9, L16): what became of the places; a lease that ran out did so at its end
INSERT INTO failure (entry_id, revision, pipeline_version, organism_id, at, attempt_id, kind, worker_id, claimed_by, counted, reason)
SELECT d.entry_id, d.revision, d.pipeline_version, l.organism_id, CASE @kind WHEN 'expired' THEN l.lease_until ELSE @now END,
       d.attempt_id, @kind, l.worker_id, l.claimed_by, NOT @uncounted, @reason
FROM json_each(@places) AS p
CROSS JOIN leased AS d ON d.pipeline_version = p.value ->> 0 AND d.entry_id = p.value ->> 1
CROSS JOIN lease AS l ON l.attempt_id = d.attempt_id
