-- seqlease revoke (L1, L11): a part of the revocations, which nobody sees yet: one after each of the given entries, whose ids begin at @first_entry_id; none after one that isn't released any more, or where an upload under way has the next version
INSERT INTO entry (id, accession, version, organism_id, group_id, submission_id, submitter, submitted_at, is_revocation)
SELECT @first_entry_id + v.key, e.accession, e.version + 1, e.organism_id, e.group_id, e.submission_id, @user, @now, 1
FROM json_each(@entries) AS v
CROSS JOIN published_entry AS e ON e.accession = v.value ->> 0 AND e.version = v.value ->> 1
WHERE e.released_at IS NOT NULL AND e.organism_id = @organism_id
  AND NOT EXISTS (SELECT 1 FROM entry AS h WHERE h.accession = e.accession AND h.version > e.version)
RETURNING accession, submission_id
