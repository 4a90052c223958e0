-- seqlease claims_of (L9): the newest claims that the entry was part of, by start, and how many there are; the bounds of their ids find them
SELECT c.attempt_id, c.pipeline_version, c.claimed_by, c.worker_id, c.claimed_at, c.lease_seconds, c.attempt, c.entries,
    r.processed_at AS accepted_at, l.lease_until, c.all_of_it
FROM (
    SELECT attempt_id, pipeline_version, claimed_by, worker_id, claimed_at, lease_seconds,
        attempts[array_position(entry_ids, @id::bigint)] AS attempt, cardinality(entry_ids) AS entries, count(*) OVER () AS all_of_it
    FROM (
        SELECT attempt_id, pipeline_version, claimed_by, worker_id, claimed_at, lease_seconds, attempts, entry_ids
        FROM claim_record
        WHERE organism_id = @organism::int AND last_entry_id >= @id AND first_entry_id <= @id AND entry_ids @> ARRAY[@id]
        UNION ALL
        -- Rows of a release that didn't note the bounds.
        SELECT attempt_id, pipeline_version, claimed_by, worker_id, claimed_at, lease_seconds, attempts, entry_ids
        FROM claim_record
        WHERE organism_id = @organism AND last_entry_id IS NULL AND entry_ids @> ARRAY[@id]
    ) AS of_it
    ORDER BY claimed_at DESC, attempt_id DESC LIMIT @limit::int
) AS c
LEFT JOIN LATERAL (
    SELECT processed_at FROM result
    WHERE pipeline_version = c.pipeline_version AND entry_id = @id AND attempt_id = c.attempt_id
        AND revision = (SELECT revision FROM entry WHERE id = @id) OFFSET 0
) AS r ON true
LEFT JOIN LATERAL (SELECT lease_until FROM lease WHERE attempt_id = c.attempt_id AND @id = ANY (entry_ids) OFFSET 0) AS l ON true
ORDER BY c.claimed_at, c.attempt_id
