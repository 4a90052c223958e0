-- seqlease sweep (L4, L9): ends leases past their end and makes their entries wait again; it skips leases that are locked
-- lease_until is a column of the row that is locked, so it is tested again after
-- a change that the snapshot doesn't show.
WITH ended AS MATERIALIZED (
    DELETE FROM lease WHERE ctid = ANY (ARRAY(
        SELECT l.ctid FROM pipeline_version AS pv
        CROSS JOIN LATERAL (
            SELECT ctid FROM lease
            WHERE organism_id = pv.organism_id AND pipeline_version = pv.version AND lease_until <= now()
            ORDER BY lease_until LIMIT @limit::int FOR UPDATE SKIP LOCKED
        ) AS l
        LIMIT @limit))
    RETURNING organism_id, pipeline_version, attempt_id, part, claimed_by, worker_id, entry_ids, revisions, attempts, hand_outs
),
place AS MATERIALIZED (
    SELECT d.organism_id, d.pipeline_version, d.attempt_id, d.claimed_by, d.worker_id, e.entry_id, e.revision, e.attempts, e.hand_outs,
        d.pipeline_version >= o.current_version AS live
    FROM ended AS d
    JOIN organism AS o ON o.id = d.organism_id
    CROSS JOIN unnest(d.entry_ids, d.revisions, d.attempts, d.hand_outs) AS e (entry_id, revision, attempts, hand_outs)
),
expired AS (
    INSERT INTO failure (entry_id, pipeline_version, organism_id, revision, attempt_id, kind, counted, worker_id, claimed_by, reason)
    SELECT entry_id, pipeline_version, organism_id, revision, attempt_id, 1, true, worker_id, claimed_by, '' FROM place
),
waiting AS MATERIALIZED (
    INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id, attempts, hand_outs)
    SELECT organism_id, pipeline_version, waiting_lane(attempts, hand_outs, false, @max_attempts::int, @max_hand_outs::int),
        (extract(epoch FROM now()) * 1000000)::bigint, entry_id, attempts, hand_outs
    FROM place WHERE live ORDER BY pipeline_version, entry_id
    ON CONFLICT DO NOTHING
    RETURNING organism_id, pipeline_version, rank
),
-- A large lease has parts; it is gone with the last of them. The snapshot has
-- those, too, that end here.
gone AS MATERIALIZED (
    SELECT d.attempt_id, d.claimed_by, d.worker_id
    FROM (SELECT attempt_id, claimed_by, worker_id, array_agg(part) AS parts FROM ended GROUP BY attempt_id, claimed_by, worker_id) AS d
    WHERE NOT EXISTS (SELECT FROM lease WHERE attempt_id = d.attempt_id AND part <> ALL (d.parts))
),
counter AS MATERIALIZED (
    SELECT organism_id, scope, bucket FROM change
    WHERE (organism_id, scope) IN (SELECT organism_id, pipeline_version FROM waiting) AND bucket = pg_backend_pid() % 16
    ORDER BY organism_id, scope FOR NO KEY UPDATE
),
bump AS (
    UPDATE change AS c SET n = c.n + 1, nonce = (random() * 9e18)::bigint
    FROM counter AS k WHERE c.organism_id = k.organism_id AND c.scope = k.scope AND c.bucket = k.bucket
)
SELECT (SELECT count(DISTINCT attempt_id) FROM ended) AS leases, coalesce((SELECT min(rank) FROM waiting), 0) AS rank,
    ARRAY(SELECT key FROM organism WHERE id IN (SELECT organism_id FROM waiting)) AS organisms,
    ARRAY(SELECT claimed_by FROM gone ORDER BY attempt_id) AS ended_of, ARRAY(SELECT worker_id FROM gone ORDER BY attempt_id) AS ended_workers
