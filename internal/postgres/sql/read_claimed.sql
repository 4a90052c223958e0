-- seqlease read_claimed (L2, L10, L12): entries of a claim by their places as claimed; what was cut from the lease or edited is left out
-- A document's length is known without reading it; what is beyond the bound isn't read.
SELECT place, accession, version, submission_id, submitter, group_id, submitted_at, attempts, dictionary_id, submitted
FROM (
    SELECT l.part::bigint * 1000 + p.position AS place, e.accession, e.version, e.submission_id, e.submitter, e.group_id, e.submitted_at,
        p.attempts, e.dictionary_id, e.submitted,
        row_number() OVER by_place AS number, sum(octet_length(e.submitted)) OVER by_place AS bytes
    FROM lease AS l
    CROSS JOIN unnest(l.entry_ids, l.positions, l.revisions, l.attempts) AS p (entry_id, position, revision, attempts)
    CROSS JOIN LATERAL (
        SELECT accession, version, submission_id, submitter, group_id, submitted_at, dictionary_id, submitted, revision
        FROM entry WHERE id = p.entry_id OFFSET 0
    ) AS e
    WHERE l.attempt_id = @attempt::uuid AND l.lease_until > now() AND e.revision = p.revision
        AND l.part BETWEEN @skip::bigint / 1000 AND (@skip + @count::bigint - 1) / 1000
        AND l.part::bigint * 1000 + p.position >= @skip AND l.part::bigint * 1000 + p.position < @skip + @count
    WINDOW by_place AS (ORDER BY l.part::bigint * 1000 + p.position)
) AS page
WHERE number = 1 OR bytes <= @bytes::bigint
ORDER BY place
