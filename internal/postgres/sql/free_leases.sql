-- seqlease free_leases (L7, L9, L14, L16): ends leases, or cuts entries from them, as if they had run out; waits for results that are being accepted
WITH named AS MATERIALIZED (
    SELECT e.id
    FROM unnest(@accessions::text[], @versions::bigint[]) AS k (accession, version)
    CROSS JOIN LATERAL (
        SELECT id FROM entry WHERE accession = k.accession AND version = k.version AND organism_id IS NOT DISTINCT FROM @organism::int OFFSET 0
    ) AS e
),
held AS MATERIALIZED (
    SELECT attempt_id, part, pipeline_version, claimed_by, worker_id, entry_ids, positions, revisions, attempts, hand_outs
    FROM lease
    WHERE organism_id = @organism AND (@any_attempt::boolean OR attempt_id = ANY (@attempt_ids::uuid[]))
        AND @worker_id::text IN ('', worker_id) AND (@any_entry::boolean OR (SELECT bool_or(u.id IN (SELECT id FROM named)) FROM unnest(entry_ids) AS u (id)))
    ORDER BY attempt_id, part LIMIT @limit::int FOR UPDATE
),
place AS MATERIALIZED (
    SELECT h.attempt_id, h.part, h.pipeline_version, h.claimed_by, h.worker_id, p.entry_id, p.position, p.revision, p.attempts, p.hand_outs,
        @any_entry OR p.entry_id IN (SELECT id FROM named) AS out
    FROM held AS h, unnest(h.entry_ids, h.positions, h.revisions, h.attempts, h.hand_outs)
        AS p (entry_id, position, revision, attempts, hand_outs)
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
),
noted AS (
    INSERT INTO failure (entry_id, pipeline_version, organism_id, revision, attempt_id, kind, counted, worker_id, claimed_by, reason)
    SELECT entry_id, pipeline_version, @organism, revision, attempt_id, 5, true, worker_id, claimed_by, @reason::text FROM place WHERE out
),
-- The one row of the audit log of a call that may take several statements.
logged AS (
    INSERT INTO audit (user_name, action, organism_id, entries, detail)
    SELECT @by::text, 'free-leases', @organism, count(*), @detail::text FROM place WHERE out AND @note::bigint = 0
    HAVING count(*) > 0
    RETURNING number
),
counted AS (
    UPDATE audit SET entries = entries + (SELECT count(*) FROM place WHERE out) WHERE number = @note
),
waiting AS MATERIALIZED (
    INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id, attempts, hand_outs)
    SELECT @organism, pipeline_version, waiting_lane(attempts, hand_outs, false, @max_attempts::int, @max_hand_outs::int),
        (extract(epoch FROM now()) * 1000000)::bigint, entry_id, attempts, hand_outs
    FROM place WHERE out ORDER BY pipeline_version, entry_id
    ON CONFLICT DO NOTHING
    RETURNING pipeline_version, rank
),
counter AS MATERIALIZED (
    SELECT scope, bucket FROM change
    WHERE organism_id = @organism AND scope IN (SELECT pipeline_version FROM waiting) AND bucket = pg_backend_pid() % 16
    ORDER BY scope FOR NO KEY UPDATE
),
bump AS (
    UPDATE change AS c SET n = c.n + 1, nonce = (random() * 9e18)::bigint
    FROM counter AS k WHERE c.organism_id = @organism AND c.scope = k.scope AND c.bucket = k.bucket
)
SELECT (SELECT count(*) FROM held) AS leases, (SELECT count(*) FROM place WHERE out) AS freed, coalesce((SELECT min(rank) FROM waiting), 0) AS rank,
    coalesce((SELECT number FROM logged), @note) AS note
