-- seqlease read_claimed_keys (L2, L12): a claim from a place on without its data
SELECT d.position, e.accession, e.version, e.submission_id, e.submitter, e.group_id, e.submitted_at, d.attempts, 0, NULL
FROM lease AS l
JOIN leased AS d ON d.attempt_id = l.attempt_id
JOIN entry AS e ON e.id = d.entry_id AND e.revision = d.revision
WHERE l.attempt_id = @attempt_id AND l.lease_until > (SELECT now FROM clock) AND d.position >= @skip
ORDER BY d.position
