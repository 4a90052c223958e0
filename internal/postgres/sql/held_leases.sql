-- seqlease held_leases (L16): leases that hold something by start and attempt id, those that have ended included, with their first entries in claim order
SELECT l.attempt_id, l.pipeline_version, l.claimed_by, l.worker_id, l.claimed_at, l.lease_until, l.lease_until <= now() AS ended, l.entries,
    coalesce((SELECT cardinality(entry_ids) FROM claim_record WHERE organism_id = @organism::int AND claimed_at = l.claimed_at AND attempt_id = l.attempt_id),
        l.entries) AS claimed,
    f.accessions, f.versions
FROM (
    SELECT attempt_id, pipeline_version, claimed_by, worker_id, claimed_at, lease_until, sum(cardinality(entry_ids)) AS entries, min(part) AS first_part
    FROM lease
    WHERE organism_id = @organism AND (@first::boolean OR (claimed_at, attempt_id) > (@claimed_at::timestamptz, @attempt::uuid))
    GROUP BY attempt_id, pipeline_version, claimed_by, worker_id, claimed_at, lease_until
    ORDER BY claimed_at, attempt_id LIMIT @limit::int
) AS l
CROSS JOIN LATERAL (
    SELECT array_agg(e.accession ORDER BY p.part, p.position) AS accessions, array_agg(e.version ORDER BY p.part, p.position) AS versions
    FROM (
        SELECT h.part, p.entry_id, p.position
        FROM lease AS h, unnest(h.entry_ids, h.positions) AS p (entry_id, position)
        WHERE h.attempt_id = l.attempt_id AND h.part < l.first_part + 10
        ORDER BY h.part, p.position LIMIT 10
    ) AS p
    CROSS JOIN LATERAL (SELECT accession, version FROM entry WHERE id = p.entry_id OFFSET 0) AS e
) AS f
ORDER BY l.claimed_at, l.attempt_id
