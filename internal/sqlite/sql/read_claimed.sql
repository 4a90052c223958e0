-- seqlease read_claimed (L3): what the attempt holds at the claimed revision
SELECT d.position, e.accession, e.version, e.submission_id, e.submitter, e.group_id, e.submitted_at, d.attempts, s.dictionary_id, s.body
FROM lease AS l
JOIN leased AS d ON d.attempt_id = l.attempt_id
JOIN entry AS e ON e.id = d.entry_id AND e.revision = d.revision
JOIN submitted AS s ON s.entry_id = e.id AND s.revision = e.revision
WHERE l.attempt_id = @attempt_id AND l.lease_until > (SELECT now FROM clock)
  AND d.position >= @skip AND d.position < @skip + @limit
ORDER BY d.position
