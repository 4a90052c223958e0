-- seqlease history_claims (L16): the last claims that an entry was part of, and how many there are
SELECT count(*) OVER (), c.attempt_id, c.pipeline_version, c.claimed_by, c.worker_id, c.claimed_at, c.lease_seconds, c.attempts ->> p.key,
       (SELECT sum(x.entries) FROM claim_record AS x WHERE x.attempt_id = c.attempt_id),
       r.processed_at, CASE WHEN d.attempt_id = c.attempt_id AND l.lease_until > k.now THEN l.lease_until END
FROM claim_record AS c
CROSS JOIN json_each(c.entry_ids) AS p ON p.value = @entry_id
CROSS JOIN entry AS e ON e.id = @entry_id
CROSS JOIN clock AS k
LEFT JOIN result AS r
    ON r.pipeline_version = c.pipeline_version AND r.entry_id = e.id AND r.revision = e.revision AND r.attempt_id = c.attempt_id
LEFT JOIN leased AS d ON d.pipeline_version = c.pipeline_version AND d.entry_id = e.id
LEFT JOIN lease AS l ON l.attempt_id = d.attempt_id
WHERE c.organism_id = @organism_id AND c.last_entry_id >= @entry_id AND c.first_entry_id <= @entry_id
ORDER BY c.claimed_at DESC, c.id DESC
LIMIT @limit
