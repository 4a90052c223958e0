-- seqlease read_claimed_keys (L2): a large claim without its data
SELECT e.accession, e.version, e.submission_id, e.submitter, e.group_id, e.submitted_at, d.attempts, 0, NULL
FROM leased AS d
JOIN entry AS e ON e.id = d.entry_id AND e.revision = d.revision
WHERE d.attempt_id = @attempt_id
ORDER BY d.position
