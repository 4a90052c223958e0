-- seqlease approve_listed (L11): those of the listed entries that are processed and good enough, and that the filters take, all with one instant
UPDATE entry
SET released_at = @now, approver = @approver
WHERE id IN (SELECT s.id
             FROM json_each(@entries) AS v
             CROSS JOIN entry_state AS s ON s.accession = v.value ->> 0 AND s.version = v.value ->> 1
             WHERE s.organism_id = @organism_id AND s.released_at IS NULL
               AND (s.is_revocation OR s.outcome = 'NO_ISSUES' OR (s.outcome = 'HAS_WARNINGS' AND @scope = 'ALL'))
               AND (@group_ids IS NULL OR s.group_id IN (SELECT value FROM json_each(@group_ids)))
               AND (@submitters IS NULL OR s.submitter IN (SELECT value FROM json_each(@submitters))))
RETURNING accession, version
