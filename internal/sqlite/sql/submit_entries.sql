-- seqlease submit_entries (L1): a part of an upload, which nobody sees yet
WITH r (id, accession, submission_id) AS (VALUES @rows)
INSERT INTO entry (id, accession, version, organism_id, group_id, submission_id, submitter, submitted_at)
SELECT r.id, r.accession, 1, @organism_id, @group_id, r.submission_id, @submitter, @started_at
FROM r
WHERE r.id IS NOT NULL
