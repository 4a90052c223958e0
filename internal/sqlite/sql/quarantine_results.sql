-- seqlease quarantine_results (L9): the results that say why, but never over a good one
WITH r (entry_id, pipeline_version, attempt_id, digest, dictionary_id, body) AS (VALUES @rows)
INSERT INTO result (pipeline_version, entry_id, revision, attempt_id, organism_id, outcome, digest, dictionary_id, processed_at, body,
                    claimed_by)
SELECT q.pipeline_version, q.entry_id, q.revision, q.attempt_id, q.organism_id, 'HAS_ERRORS', r.digest, r.dictionary_id, q.at, r.body, ''
FROM r
CROSS JOIN quarantine AS q
    ON q.pipeline_version = r.pipeline_version AND q.entry_id = r.entry_id AND q.attempt_id = r.attempt_id
WHERE r.entry_id IS NOT NULL
ON CONFLICT (pipeline_version, entry_id) DO UPDATE
SET revision = excluded.revision, attempt_id = excluded.attempt_id, outcome = excluded.outcome, digest = excluded.digest,
    dictionary_id = excluded.dictionary_id, processed_at = excluded.processed_at, body = excluded.body,
    claimed_by = excluded.claimed_by
WHERE result.revision <> excluded.revision OR result.outcome = 'HAS_ERRORS'
