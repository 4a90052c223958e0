-- seqlease accept_results (L3, L5, L10): a line that the attempt doesn't hold at @now isn't stored; the caller says why
-- (OR FAIL: should it end midway, the writer undoes all of the request, so SQLite needs no copies of the pages to undo the statement)
WITH r (accession, version, outcome, digest, dictionary_id, body) AS (VALUES @rows)
INSERT OR FAIL INTO result (pipeline_version, entry_id, revision, attempt_id, organism_id, outcome, digest, dictionary_id, processed_at,
                    claimed_by, body)
SELECT d.pipeline_version, e.id, e.revision, d.attempt_id, e.organism_id, r.outcome, r.digest, r.dictionary_id, @now,
       @claimed_by, r.body
FROM r
CROSS JOIN entry AS e ON e.accession = r.accession AND e.version = r.version
CROSS JOIN leased AS d
    ON d.pipeline_version = @pipeline_version AND d.entry_id = e.id AND d.attempt_id = @attempt_id AND d.revision = e.revision
WHERE (SELECT l.lease_until > @now AND l.claimed_by = @claimed_by AND l.organism_id = @organism_id
       FROM lease AS l WHERE l.attempt_id = @attempt_id)
ON CONFLICT (pipeline_version, entry_id) DO UPDATE
SET revision = excluded.revision, attempt_id = excluded.attempt_id, outcome = excluded.outcome, digest = excluded.digest,
    dictionary_id = excluded.dictionary_id, processed_at = excluded.processed_at, body = excluded.body,
    claimed_by = excluded.claimed_by
