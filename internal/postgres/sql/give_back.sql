-- seqlease give_back (L7, L8, L14): ends an attempt's lease, or cuts entries from it, and makes them wait again; the clock is read after the lease rows are locked
WITH named AS MATERIALIZED (
    SELECT e.id
    FROM unnest(@accessions::text[], @versions::bigint[]) AS k (accession, version)
    CROSS JOIN LATERAL (SELECT id FROM entry WHERE accession = k.accession AND version = k.version OFFSET 0) AS e
),
held AS MATERIALIZED (
    SELECT attempt_id, part, organism_id, pipeline_version, lease_until, claimed_by, worker_id, entry_ids, positions, revisions, attempts, hand_outs
    FROM lease
    WHERE attempt_id = @attempt::uuid AND (@undelivered::boolean OR organism_id = @organism::int AND (@any_user::boolean OR claimed_by = @claimed_by::text))
    ORDER BY part FOR UPDATE
),
place AS MATERIALIZED (
    SELECT h.attempt_id, h.part, h.organism_id, h.pipeline_version, h.claimed_by, h.worker_id, p.entry_id, p.position, p.revision,
        p.attempts, p.hand_outs, @whole::boolean OR p.entry_id IN (SELECT id FROM named) AS returned
    FROM held AS h, unnest(h.entry_ids, h.positions, h.revisions, h.attempts, h.hand_outs)
        AS p (entry_id, position, revision, attempts, hand_outs)
    WHERE @undelivered OR h.lease_until > clock_timestamp()
),
remaining AS MATERIALIZED (
    SELECT attempt_id, part,
        array_agg(entry_id ORDER BY position) FILTER (WHERE NOT returned) AS entry_ids,
        array_agg(position ORDER BY position) FILTER (WHERE NOT returned) AS positions,
        array_agg(revision ORDER BY position) FILTER (WHERE NOT returned) AS revisions,
        array_agg(attempts ORDER BY position) FILTER (WHERE NOT returned) AS attempts,
        array_agg(hand_outs ORDER BY position) FILTER (WHERE NOT returned) AS hand_outs
    FROM place GROUP BY attempt_id, part HAVING bool_or(returned)
),
shortened AS (
    UPDATE lease AS l SET entry_ids = r.entry_ids, positions = r.positions, revisions = r.revisions,
        attempts = r.attempts, hand_outs = r.hand_outs
    FROM remaining AS r
    WHERE l.attempt_id = @attempt AND l.part = r.part AND r.entry_ids IS NOT NULL
),
emptied AS (
    DELETE FROM lease AS l USING remaining AS r
    WHERE l.attempt_id = @attempt AND l.part = r.part AND r.entry_ids IS NULL
),
-- Back to lane 0 is to its head: it was their turn already.
back AS MATERIALIZED (
    SELECT p.organism_id, p.pipeline_version, p.entry_id, p.revision, p.attempt_id, p.claimed_by, p.worker_id, a.attempts, p.hand_outs,
        waiting_lane(a.attempts, p.hand_outs, false, @max_attempts::int, @max_hand_outs::int) AS lane
    FROM place AS p
    CROSS JOIN LATERAL (SELECT CASE WHEN @counts::boolean THEN p.attempts ELSE greatest(p.attempts - 1, 0) END AS attempts) AS a
    WHERE p.returned
),
head AS MATERIALIZED (
    SELECT coalesce(
        (SELECT rank FROM ticket
            WHERE organism_id = q.organism_id AND pipeline_version = q.pipeline_version AND lane = 0 AND (rank, entry_id) > (b.rank, b.id)
            ORDER BY rank, entry_id LIMIT 1),
        (SELECT last_rank FROM turn
            WHERE organism_id = q.organism_id AND pipeline_version = q.pipeline_version AND lane = 0 ORDER BY last_rank DESC LIMIT 1),
        0) AS rank
    FROM (SELECT organism_id, pipeline_version FROM back LIMIT 1) AS q
    LEFT JOIN unnest(@bound_organisms::int[], @bound_versions::bigint[], @bound_ranks::bigint[], @bound_ids::bigint[])
        AS k (organism_id, version, rank, id) ON k.organism_id = q.organism_id AND k.version = q.pipeline_version
    CROSS JOIN LATERAL (SELECT coalesce(k.rank, -1) AS rank, coalesce(k.id, 0) AS id) AS b
),
waiting AS MATERIALIZED (
    INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id, attempts, hand_outs)
    SELECT organism_id, pipeline_version, lane,
        CASE lane WHEN 0 THEN (SELECT rank FROM head) ELSE (extract(epoch FROM now()) * 1000000)::bigint END, entry_id, attempts, hand_outs
    FROM back ORDER BY entry_id
    ON CONFLICT DO NOTHING
    RETURNING lane, rank
),
noted AS (
    INSERT INTO failure (entry_id, pipeline_version, organism_id, revision, attempt_id, kind, counted, worker_id, claimed_by, reason)
    SELECT entry_id, pipeline_version, organism_id, revision, attempt_id, @kind::smallint, @counts, worker_id, claimed_by, @reason::text FROM back
),
bump AS (
    UPDATE change SET n = n + 1, nonce = (random() * 9e18)::bigint
    WHERE (organism_id, scope) IN (SELECT organism_id, pipeline_version FROM back LIMIT 1) AND bucket = pg_backend_pid() % 16
)
SELECT (SELECT count(*) FROM place) AS held, (SELECT count(*) FROM back) AS entries,
    coalesce((SELECT organism_id FROM back LIMIT 1), 0) AS organism_id, coalesce((SELECT pipeline_version FROM back LIMIT 1), 0) AS pipeline_version,
    (SELECT min(rank) FROM waiting WHERE lane = 0) AS fresh_rank, (SELECT min(rank) FROM waiting WHERE lane > 0) AS suspect_rank
