-- seqlease cut_leases (L7, L10): takes the entries out of the leases that hold them and notes it there; waits for results that are being accepted; version 0 means every one
WITH named AS MATERIALIZED (
    SELECT unnest(@ids::bigint[]) AS id
),
held AS MATERIALIZED (
    SELECT attempt_id, part, pipeline_version, lease_until, entry_ids, positions, revisions, attempts, hand_outs
    FROM lease
    WHERE organism_id = @organism::int AND @version::bigint IN (0, pipeline_version)
        AND (SELECT bool_or(u.id IN (SELECT id FROM named)) FROM unnest(entry_ids) AS u (id))
    ORDER BY attempt_id, part FOR UPDATE
),
place AS MATERIALIZED (
    SELECT h.attempt_id, h.part, h.pipeline_version, p.*, p.entry_id IN (SELECT id FROM named) AS out,
        h.lease_until > clock_timestamp() AND h.pipeline_version = o.current_version AS running
    FROM held AS h
    CROSS JOIN unnest(h.entry_ids, h.positions, h.revisions, h.attempts, h.hand_outs)
        AS p (entry_id, position, revision, attempts, hand_outs)
    JOIN organism AS o ON o.id = @organism
),
remaining AS MATERIALIZED (
    SELECT attempt_id, part,
        array_agg(entry_id ORDER BY position) FILTER (WHERE NOT out) AS entry_ids,
        array_agg(position ORDER BY position) FILTER (WHERE NOT out) AS positions,
        array_agg(revision ORDER BY position) FILTER (WHERE NOT out) AS revisions,
        array_agg(attempts ORDER BY position) FILTER (WHERE NOT out) AS attempts,
        array_agg(hand_outs ORDER BY position) FILTER (WHERE NOT out) AS hand_outs
    FROM place GROUP BY attempt_id, part
),
shortened AS (
    UPDATE lease AS l SET entry_ids = r.entry_ids, positions = r.positions, revisions = r.revisions,
        attempts = r.attempts, hand_outs = r.hand_outs
    FROM remaining AS r
    WHERE l.attempt_id = r.attempt_id AND l.part = r.part AND r.entry_ids IS NOT NULL
),
emptied AS (
    DELETE FROM lease AS l USING remaining AS r
    WHERE l.attempt_id = r.attempt_id AND l.part = r.part AND r.entry_ids IS NULL
),
lost AS (
    INSERT INTO cut (attempt_id, accession, version)
    SELECT p.attempt_id, e.accession, e.version
    FROM place AS p
    CROSS JOIN LATERAL (SELECT accession, version FROM entry WHERE id = p.entry_id OFFSET 0) AS e
    WHERE p.out ORDER BY p.attempt_id, e.accession, e.version
    ON CONFLICT DO NOTHING
)
SELECT entry_id, attempt_id, running, pipeline_version, attempts, hand_outs FROM place WHERE out
