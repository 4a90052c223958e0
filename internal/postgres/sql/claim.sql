-- seqlease claim (L2, L4, L11, L13): one statement, so one snapshot for tickets, entries and the mark; it skips rows that are locked instead of waiting for them
WITH live AS MATERIALIZED (
    SELECT o.current_version, pv.version IS NOT NULL AS registered,
        CASE WHEN pv.version >= o.current_version THEN @n::int ELSE 0 END AS wanted
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
-- ARRAY(…) is evaluated once whatever the plan, so its LIMIT can't be exceeded.
-- Rows are deleted by where they lie: by key, a planner may well compare every
-- ticket with every element.
ahead AS MATERIALIZED (
    DELETE FROM ticket
    WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ticket
        WHERE organism_id = @organism AND pipeline_version = @version AND entry_id > @after::bigint
        ORDER BY entry_id LIMIT (SELECT wanted FROM live) FOR UPDATE SKIP LOCKED))
    RETURNING entry_id, attempts, hand_outs
),
-- From the start up to the bound, only if what lies ahead was too little: a
-- LIMIT of 0 scans nothing.
behind AS MATERIALIZED (
    DELETE FROM ticket
    WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ticket
        WHERE organism_id = @organism AND pipeline_version = @version AND entry_id <= @after
        ORDER BY entry_id LIMIT (SELECT wanted FROM live) - (SELECT count(*) FROM ahead) FOR UPDATE SKIP LOCKED))
    RETURNING entry_id, attempts, hand_outs
),
short AS MATERIALIZED (
    SELECT (SELECT wanted FROM live) - (SELECT count(*) FROM ahead) - (SELECT count(*) FROM behind) AS by
),
-- Leases past their end (L4). lease_until is a column of the row that is locked,
-- so it is tested again after a change that the snapshot doesn't show. A probe
-- looks for a few even when tickets abound.
ended AS MATERIALIZED (
    DELETE FROM lease
    WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM lease
        WHERE organism_id = @organism AND pipeline_version = @version
            AND lease_until > @probe_from::timestamptz AND lease_until <= now()
        ORDER BY lease_until
        LIMIT greatest((SELECT by FROM short), (SELECT CASE WHEN @probe::boolean AND wanted > 0 THEN 4 ELSE 0 END FROM live))
        FOR UPDATE SKIP LOCKED))
    RETURNING attempt_id, entry_ids, attempts, hand_outs
),
taken AS MATERIALIZED (
    SELECT e.entry_id, e.attempts, e.hand_outs, row_number() OVER (ORDER BY e.entry_id) <= (SELECT by FROM short) AS placed
    FROM ended, unnest(ended.entry_ids, ended.attempts, ended.hand_outs) AS e (entry_id, attempts, hand_outs)
),
picked AS MATERIALIZED (
    SELECT p.entry_id, least(p.attempts + 1, 32767)::smallint AS attempts, p.hand_outs + 1 AS hand_outs,
        e.revision, e.accession, e.version, e.submission_id, e.submitter, e.group_id, e.submitted_at, e.dictionary_id,
        row_number() OVER by_id - 1 AS place,
        -- A document's length is known without reading it.
        CASE WHEN sum(octet_length(e.submitted)) OVER by_id <= @payload::bigint THEN e.submitted END AS submitted
    FROM (
        SELECT entry_id, attempts, hand_outs FROM ahead
        UNION ALL SELECT entry_id, attempts, hand_outs FROM behind
        UNION ALL SELECT entry_id, attempts, hand_outs FROM taken WHERE placed
    ) AS p
    -- OFFSET 0 keeps this a look-up by key for each picked entry. A ticket whose
    -- entry is gone ends here.
    CROSS JOIN LATERAL (
        SELECT revision, accession, version, submission_id, submitter, group_id, submitted_at, dictionary_id,
            CASE WHEN @payload > 0 THEN submitted END AS submitted
        FROM entry WHERE id = p.entry_id OFFSET 0
    ) AS e
    WINDOW by_id AS (ORDER BY p.entry_id)
),
placed AS (
    INSERT INTO lease (attempt_id, part, organism_id, pipeline_version, lease_until, lease_seconds, claimed_by, worker_id,
        entry_ids, positions, revisions, attempts, hand_outs)
    SELECT @attempt::uuid, place / 1000, @organism, @version, now() + @seconds::int * interval '1 second', @seconds,
        @claimed_by::text, @worker_id::text, array_agg(entry_id ORDER BY place), array_agg((place % 1000)::smallint ORDER BY place),
        array_agg(revision ORDER BY place), array_agg(attempts ORDER BY place), array_agg(hand_outs ORDER BY place)
    FROM picked GROUP BY place / 1000
),
surplus AS MATERIALIZED (
    INSERT INTO ticket (organism_id, pipeline_version, entry_id, attempts, hand_outs)
    SELECT @organism, @version, entry_id, attempts, hand_outs FROM taken WHERE NOT placed ORDER BY entry_id
    ON CONFLICT DO NOTHING
    RETURNING entry_id
),
-- Any counter will do. Only if others change all 16 at this moment, it waits for
-- the commit of one of them.
bump AS (
    UPDATE change SET n = n + 1, nonce = (random() * 9e18)::bigint
    WHERE organism_id = @organism AND scope = @version AND EXISTS (SELECT FROM surplus) AND bucket = coalesce((
        SELECT bucket FROM change WHERE organism_id = @organism AND scope = @version
        ORDER BY (bucket + 16 - pg_backend_pid() % 16) % 16 LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED), pg_backend_pid() % 16)
)
SELECT -1::bigint AS place, now() AS now, now() + @seconds * interval '1 second' AS lease_until, mark.mark,
    live.current_version, live.registered,
    CASE WHEN (SELECT count(*) FROM picked) = 0 THEN (
        SELECT lease_until FROM lease
        WHERE organism_id = @organism AND pipeline_version = @version AND lease_until > @probe_from
        ORDER BY lease_until LIMIT 1) END AS earliest_end,
    (SELECT max(entry_id) FROM ahead) AS last_ahead, (SELECT max(entry_id) FROM behind) AS last_behind,
    (SELECT min(entry_id) FROM surplus) AS first_surplus, (SELECT count(DISTINCT attempt_id) FROM ended) AS ended,
    '' AS accession, 0::bigint AS version, '' AS submission_id, '' AS submitter, 0::bigint AS group_id, NULL::timestamptz AS submitted_at,
    0::smallint AS attempts, 0::bigint AS dictionary_id, NULL::bytea AS submitted
FROM live, mark
UNION ALL
SELECT place, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    accession, version, submission_id, submitter, group_id, submitted_at, attempts, dictionary_id, submitted
FROM picked
