-- seqlease claim (L2, L4, L9, L11, L13, L16, L17): one statement, so one snapshot for tickets, entries and the mark; it skips rows that are locked instead of waiting for them
WITH live AS MATERIALIZED (
    SELECT o.current_version, pv.version IS NOT NULL AS registered, o.paused OR coalesce(pv.paused, false) AS paused,
        CASE WHEN pv.version >= o.current_version AND NOT o.paused AND NOT pv.paused THEN @n::int ELSE 0 END AS wanted
    FROM organism AS o
    LEFT JOIN pipeline_version AS pv ON pv.organism_id = o.id AND pv.version = @version::bigint
    WHERE o.id = @organism::int
),
-- The counters and what is scanned come from the same snapshot, so the mark of
-- an empty answer is never newer than what was found empty (L14).
mark AS MATERIALIZED (
    SELECT lpad(sum(n)::text, 19, '0') || '-' || left(md5(string_agg(nonce::text, ',' ORDER BY bucket)), 16) AS mark
    FROM change WHERE organism_id = @organism AND scope = @version
),
-- Which stretches of which lanes to look at, each round in this order.
stretch AS MATERIALIZED (
    SELECT round, lane, behind, from_rank, from_id, to_rank, to_id
    FROM unnest(@rounds::smallint[], @lanes::smallint[], @behind::boolean[], @from_ranks::bigint[], @from_ids::bigint[], @to_ranks::bigint[],
        @to_ids::bigint[]) AS s (round, lane, behind, from_rank, from_id, to_rank, to_id)
),
-- Round 1: suspects, whose turn it is before the others now and then.
-- ARRAY(…) is evaluated once whatever the plan, so its LIMIT can't be exceeded,
-- and a LIMIT of 0 scans nothing. Rows are deleted by where they lie: by key, a
-- planner may well compare every ticket with every element.
turned AS MATERIALIZED (
    DELETE FROM ticket
    WHERE ctid = ANY (ARRAY(
        SELECT t.ctid FROM stretch AS s
        CROSS JOIN LATERAL (
            SELECT ctid FROM ticket
            WHERE organism_id = @organism AND pipeline_version = @version AND lane = s.lane
                AND (rank, entry_id) > (s.from_rank, s.from_id) AND (rank, entry_id) <= (s.to_rank, s.to_id)
            ORDER BY rank, entry_id LIMIT @turn_limit::int FOR UPDATE SKIP LOCKED
        ) AS t
        WHERE s.round = 1
        LIMIT (SELECT least(wanted, @turn_limit) FROM live)))
    RETURNING lane, rank, entry_id, attempts, hand_outs
),
-- Round 2: fresh entries and bulk work. What lies behind the bounds comes last,
-- only if what lies ahead was too little, and not at the mark at which there was
-- nothing: to pass the dead tickets takes long, while an old transaction keeps them.
fresh AS MATERIALIZED (
    DELETE FROM ticket
    WHERE ctid = ANY (ARRAY(
        SELECT t.ctid FROM stretch AS s
        CROSS JOIN LATERAL (
            SELECT ctid FROM ticket
            WHERE organism_id = @organism AND pipeline_version = @version AND lane = s.lane
                AND (rank, entry_id) > (s.from_rank, s.from_id) AND (rank, entry_id) <= (s.to_rank, s.to_id)
            ORDER BY rank, entry_id LIMIT @n FOR UPDATE SKIP LOCKED
        ) AS t
        WHERE s.round = 2 AND (NOT s.behind OR (SELECT mark FROM mark) <> @exhausted::text)
        LIMIT (SELECT CASE WHEN EXISTS (SELECT FROM turned) THEN 0 ELSE wanted END FROM live)))
    RETURNING lane, rank, entry_id, attempts, hand_outs
),
-- Rounds 3 and 4: suspects among themselves, and then one that goes alone.
suspect AS MATERIALIZED (
    DELETE FROM ticket
    WHERE ctid = ANY (ARRAY(
        SELECT t.ctid FROM stretch AS s
        CROSS JOIN LATERAL (
            SELECT ctid FROM ticket
            WHERE organism_id = @organism AND pipeline_version = @version AND lane = s.lane
                AND (rank, entry_id) > (s.from_rank, s.from_id) AND (rank, entry_id) <= (s.to_rank, s.to_id)
            ORDER BY rank, entry_id LIMIT @suspects::int FOR UPDATE SKIP LOCKED
        ) AS t
        WHERE s.round = 3
        LIMIT (SELECT CASE WHEN EXISTS (SELECT FROM turned) OR EXISTS (SELECT FROM fresh) THEN 0 ELSE least(wanted, @suspects) END FROM live)))
    RETURNING lane, rank, entry_id, attempts, hand_outs
),
alone AS MATERIALIZED (
    DELETE FROM ticket
    WHERE ctid = ANY (ARRAY(
        SELECT t.ctid FROM stretch AS s
        CROSS JOIN LATERAL (
            SELECT ctid FROM ticket
            WHERE organism_id = @organism AND pipeline_version = @version AND lane = s.lane
                AND (rank, entry_id) > (s.from_rank, s.from_id) AND (rank, entry_id) <= (s.to_rank, s.to_id)
            ORDER BY rank, entry_id LIMIT 1 FOR UPDATE SKIP LOCKED
        ) AS t
        WHERE s.round = 4
        LIMIT (SELECT CASE WHEN EXISTS (SELECT FROM turned) OR EXISTS (SELECT FROM fresh) OR EXISTS (SELECT FROM suspect) THEN 0
            ELSE least(wanted, 1) END FROM live)))
    RETURNING lane, rank, entry_id, attempts, hand_outs
),
queued AS MATERIALIZED (
    SELECT lane, rank, entry_id, attempts, hand_outs FROM turned
    UNION ALL SELECT lane, rank, entry_id, attempts, hand_outs FROM fresh
    UNION ALL SELECT lane, rank, entry_id, attempts, hand_outs FROM suspect
    UNION ALL SELECT lane, rank, entry_id, attempts, hand_outs FROM alone
),
-- Leases past their end (L4), if nothing else was found. lease_until is a column
-- of the row that is locked, so it is tested again after a change that the
-- snapshot doesn't show. A probe looks for a few even when tickets abound.
ended AS MATERIALIZED (
    DELETE FROM lease
    WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM lease
        WHERE organism_id = @organism AND pipeline_version = @version
            AND lease_until > @probe_from::timestamptz AND lease_until <= now()
        ORDER BY lease_until
        LIMIT (SELECT CASE WHEN wanted = 0 THEN 0 WHEN NOT EXISTS (SELECT FROM queued) THEN @ended_limit::int WHEN @probe::boolean THEN 4 ELSE 0 END FROM live)
        FOR UPDATE SKIP LOCKED))
    RETURNING attempt_id, claimed_by, worker_id, entry_ids, revisions, attempts, hand_outs
),
-- Their entries wait in their lanes, or go straight into this lease within the
-- limits of a lane: number says which of the lane one is.
taken AS MATERIALIZED (
    SELECT attempt_id, claimed_by, worker_id, entry_id, revision, attempts, hand_outs, lane,
        lane < 4 AND lane = min(lane) OVER () AND row_number() OVER (PARTITION BY lane ORDER BY entry_id) <= CASE lane WHEN 2 THEN least(@suspects, @n) ELSE 1 END
            AND NOT EXISTS (SELECT FROM queued) AS placed
    FROM (
        SELECT ended.attempt_id, ended.claimed_by, ended.worker_id, e.entry_id, e.revision, e.attempts, e.hand_outs,
            waiting_lane(e.attempts, e.hand_outs, false, @max_attempts::int, @max_hand_outs::int) AS lane
        FROM ended, unnest(ended.entry_ids, ended.revisions, ended.attempts, ended.hand_outs) AS e (entry_id, revision, attempts, hand_outs)
    ) AS e
),
picked AS MATERIALIZED (
    SELECT p.lane, p.rank, p.entry_id, least(p.attempts + 1, 32767)::smallint AS attempts, p.hand_outs + 1 AS hand_outs,
        e.revision, e.accession, e.version, e.submission_id, e.submitter, e.group_id, e.submitted_at, e.dictionary_id,
        row_number() OVER in_order - 1 AS place,
        -- A document's length is known without reading it.
        CASE WHEN sum(octet_length(e.submitted)) OVER in_order <= @payload::bigint THEN e.submitted END AS submitted
    FROM (
        SELECT lane, rank, entry_id, attempts, hand_outs FROM queued
        UNION ALL SELECT -1, 0, entry_id, attempts, hand_outs FROM taken WHERE placed
    ) AS p
    -- OFFSET 0 keeps this a look-up by key for each picked entry. A ticket whose
    -- entry is gone ends here.
    CROSS JOIN LATERAL (
        SELECT revision, accession, version, submission_id, submitter, group_id, submitted_at, dictionary_id,
            CASE WHEN @payload > 0 THEN submitted END AS submitted
        FROM entry WHERE id = p.entry_id OFFSET 0
    ) AS e
    WINDOW in_order AS (ORDER BY p.lane, p.rank, p.entry_id)
),
placed AS (
    INSERT INTO lease (attempt_id, part, organism_id, pipeline_version, lease_until, lease_seconds, claimed_by, worker_id,
        entry_ids, positions, revisions, attempts, hand_outs)
    SELECT @attempt::uuid, place / 1000, @organism, @version, now() + @seconds::int * interval '1 second', @seconds,
        @claimed_by::text, @worker_id::text, array_agg(entry_id ORDER BY place), array_agg((place % 1000)::smallint ORDER BY place),
        array_agg(revision ORDER BY place), array_agg(attempts ORDER BY place), array_agg(hand_outs ORDER BY place)
    FROM picked GROUP BY place / 1000
),
record AS (
    INSERT INTO claim_record (organism_id, lease_seconds, pipeline_version, attempt_id, claimed_by, worker_id, first_entry_id, last_entry_id,
        attempts, entry_ids)
    SELECT @organism, @seconds, @version, @attempt, @claimed_by, @worker_id, min(entry_id), max(entry_id),
        array_agg(attempts ORDER BY place), array_agg(entry_id ORDER BY place)
    FROM picked HAVING count(*) > 0
),
expired AS (
    INSERT INTO failure (entry_id, pipeline_version, organism_id, revision, attempt_id, kind, counted, worker_id, claimed_by, reason)
    SELECT entry_id, @version, @organism, revision, attempt_id, 1, true, worker_id, claimed_by, '' FROM taken
),
surplus AS MATERIALIZED (
    INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id, attempts, hand_outs)
    SELECT @organism, @version, lane, (extract(epoch FROM now()) * 1000000)::bigint, entry_id, attempts, hand_outs
    FROM taken WHERE NOT placed ORDER BY entry_id
    ON CONFLICT DO NOTHING
    RETURNING rank
),
-- Any counter will do. Only if others change all 16 at this moment, it waits for
-- the commit of one of them.
bump AS (
    UPDATE change SET n = n + 1, nonce = (random() * 9e18)::bigint
    WHERE organism_id = @organism AND scope = @version AND EXISTS (SELECT FROM surplus) AND bucket = coalesce((
        SELECT bucket FROM change WHERE organism_id = @organism AND scope = @version
        ORDER BY (bucket + 16 - pg_backend_pid() % 16) % 16 LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED), pg_backend_pid() % 16)
)
SELECT now() AS now, mark.mark,
    live.current_version, live.registered, live.paused,
    CASE WHEN (SELECT count(*) FROM picked) = 0 THEN (
        SELECT lease_until FROM lease
        WHERE organism_id = @organism AND pipeline_version = @version AND lease_until > @probe_from
        ORDER BY lease_until LIMIT 1) END AS earliest_end,
    (SELECT min(rank) FROM surplus) AS surplus_rank, of.claimed_by AS ended_of, of.worker_id AS ended_workers,
    NULL::int AS share, NULL::smallint AS lane, NULL::bigint AS rank, NULL::bigint AS entry_id, NULL AS accession, NULL::bigint AS version, NULL AS submission_id,
    NULL AS submitter, NULL::bigint AS group_id, NULL::timestamptz AS submitted_at, NULL::smallint AS attempts, NULL::bigint AS dictionary_id,
    NULL::bytea AS submitted
FROM live, mark, (
    SELECT array_agg(claimed_by) AS claimed_by, array_agg(worker_id) AS worker_id
    FROM (SELECT DISTINCT attempt_id, claimed_by, worker_id FROM ended) AS o
) AS of
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, lane, rank, entry_id,
    accession, version, submission_id, submitter, group_id, submitted_at, attempts, dictionary_id, submitted
FROM picked
