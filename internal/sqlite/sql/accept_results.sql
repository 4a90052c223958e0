-- seqlease accept_results (L3, L5, L10): a line whose lease doesn't hold at @now isn't stored; the caller says why
WITH r (accession, version, attempt_id, outcome, digest, dictionary_id, body) AS (VALUES @rows)
INSERT INTO result (pipeline_version, entry_id, revision, attempt_id, organism_id, outcome, digest, dictionary_id, processed_at, body,
                    claimed_by)
SELECT d.pipeline_version, e.id, e.revision, d.attempt_id, e.organism_id, r.outcome, r.digest, r.dictionary_id, @now, r.body,
       l.claimed_by
FROM r
CROSS JOIN entry AS e ON e.accession = r.accession AND e.version = r.version
CROSS JOIN leased AS d
    ON d.pipeline_version = @pipeline_version AND d.entry_id = e.id AND d.attempt_id = r.attempt_id AND d.revision = e.revision
CROSS JOIN lease AS l ON l.attempt_id = d.attempt_id
WHERE r.accession IS NOT NULL AND l.lease_until > @now AND l.claimed_by = @claimed_by AND l.organism_id = @organism_id
ON CONFLICT (pipeline_version, entry_id) DO UPDATE
SET revision = excluded.revision, attempt_id = excluded.attempt_id, outcome = excluded.outcome, digest = excluded.digest,
    dictionary_id = excluded.dictionary_id, processed_at = excluded.processed_at, body = excluded.body,
    claimed_by = excluded.claimed_by
