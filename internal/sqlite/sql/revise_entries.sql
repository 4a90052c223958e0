-- seqlease revise_entries (L1): a part of a revision, which nobody sees yet: the next versions of those whose highest is released
WITH r (id, accession, submission_id) AS (VALUES @rows)
INSERT INTO entry (id, accession, version, organism_id, group_id, submission_id, submitter, submitted_at)
SELECT r.id, e.accession, e.version + 1, e.organism_id, e.group_id, r.submission_id, @submitter, @started_at
FROM r
CROSS JOIN known_entry AS e ON e.accession = r.accession
WHERE r.id IS NOT NULL AND e.released_at IS NOT NULL AND e.organism_id = @organism_id
  AND NOT EXISTS (SELECT 1 FROM entry AS h WHERE h.accession = e.accession AND h.version > e.version)
