-- seqlease approve_all (L11): everything processed that the filters take, all with one instant
UPDATE entry
SET released_at = @now, approver = @approver
WHERE id IN (SELECT s.id
             FROM entry_state AS s
             WHERE s.organism_id = @organism_id AND s.released_at IS NULL
               AND (s.is_revocation OR s.outcome = 'NO_ISSUES' OR (s.outcome = 'HAS_WARNINGS' AND @scope = 'ALL'))
               AND (@group_ids IS NULL OR s.group_id IN (SELECT value FROM json_each(@group_ids)))
               AND (@submitters IS NULL OR s.submitter IN (SELECT value FROM json_each(@submitters))))
RETURNING accession, version
