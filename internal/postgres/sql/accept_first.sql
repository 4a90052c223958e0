-- seqlease accept_first (L3, L5, L10): accept_results for entries that have no result yet; if one has, the key of result refuses it all
-- Leases and entries are found by their keys, however small the tables were when this
-- was planned: IS NOT DISTINCT FROM can't be looked up in an index.
WITH held AS MATERIALIZED (
    SELECT attempt_id, part, lease_until, entry_ids, positions, revisions, attempts, hand_outs
    FROM lease
    WHERE attempt_id = ANY (@attempt_ids::uuid[]) AND organism_id IS NOT DISTINCT FROM @organism::int
        AND pipeline_version IS NOT DISTINCT FROM @version::bigint AND claimed_by = @claimed_by::text
    ORDER BY attempt_id, part FOR UPDATE
),
clock AS MATERIALIZED (
    SELECT clock_timestamp() AS at FROM (SELECT count(*) FROM held) AS locked
),
place AS MATERIALIZED (
    SELECT h.attempt_id, h.part, p.entry_id, p.revision
    FROM held AS h, unnest(h.entry_ids, h.revisions) AS p (entry_id, revision)
    WHERE h.lease_until > (SELECT at FROM clock)
),
-- What is the same for all lines is sent once, beside an empty list.
line AS MATERIALIZED (
    SELECT l.n, coalesce(l.attempt_id, @attempt_ids[1]) AS attempt_id, e.id AS entry_id, e.revision, e.released
    FROM unnest(@attempts::uuid[], @accessions::text[], @versions::bigint[]) WITH ORDINALITY AS l (attempt_id, accession, version, n)
    CROSS JOIN LATERAL (
        SELECT id, revision, released_at IS NOT NULL AS released
        FROM entry
        WHERE accession = l.accession AND version = coalesce(l.version, @entry_version::bigint) AND organism_id IS NOT DISTINCT FROM @organism OFFSET 0
    ) AS e
),
-- A full join can't be a nested loop, however few rows a kept plan expects.
matched AS MATERIALIZED (
    SELECT l.n, l.released, p.attempt_id, p.entry_id, p.revision
    FROM line AS l
    FULL JOIN place AS p ON p.entry_id = l.entry_id AND p.attempt_id = l.attempt_id AND p.revision = l.revision
),
good AS MATERIALIZED (
    SELECT lines, released, lines = places AS complete, lines > 0 AND lines = cardinality(@accessions) AS storing
    FROM (
        SELECT count(n) FILTER (WHERE entry_id IS NOT NULL) AS lines, count(entry_id) AS places,
            coalesce(bool_or(released AND entry_id IS NOT NULL), false) AS released
        FROM matched
    ) AS m
),
-- In the order of the lines, of which all are good. So bodies go from their list
-- into their rows, and through no join or sort.
keys AS MATERIALIZED (
    SELECT array_agg(entry_id) AS entry_ids, array_agg(attempt_id) AS attempt_ids, array_agg(revision) AS revisions
    FROM (SELECT entry_id, attempt_id, revision FROM matched WHERE n IS NOT NULL AND (SELECT storing FROM good) ORDER BY n) AS m
),
stored AS (
    INSERT INTO result (pipeline_version, entry_id, attempt_id, dictionary_id, processed_at, organism_id, revision,
        claimed_by_sum, outcome, digest, body)
    SELECT @version, l.entry_id, l.attempt_id, coalesce(l.dictionary_id, @dictionary::bigint), (SELECT at FROM clock), @organism, l.revision,
        @claimed_by_sum::int, coalesce(l.outcome, @outcome::smallint), l.digest, l.body
    FROM (
        SELECT unnest(entry_ids) AS entry_id, unnest(attempt_ids) AS attempt_id, unnest(revisions) AS revision, unnest(@outcomes::smallint[]) AS outcome,
            unnest(@digests::bytea[]) AS digest, unnest(@dictionaries::bigint[]) AS dictionary_id, unnest(@bodies::bytea[]) AS body
        FROM keys WHERE entry_ids IS NOT NULL
    ) AS l
),
-- What is left of leases of which some places have no line.
remaining AS MATERIALIZED (
    SELECT h.attempt_id, h.part,
        array_agg(p.entry_id ORDER BY p.position) FILTER (WHERE NOT p.done) AS entry_ids,
        array_agg(p.position ORDER BY p.position) FILTER (WHERE NOT p.done) AS positions,
        array_agg(p.revision ORDER BY p.position) FILTER (WHERE NOT p.done) AS revisions,
        array_agg(p.attempts ORDER BY p.position) FILTER (WHERE NOT p.done) AS attempts,
        array_agg(p.hand_outs ORDER BY p.position) FILTER (WHERE NOT p.done) AS hand_outs
    FROM held AS h
    CROSS JOIN LATERAL (
        SELECT u.*, u.entry_id IN (SELECT entry_id FROM matched WHERE n IS NOT NULL AND entry_id IS NOT NULL) AS done
        FROM unnest(h.entry_ids, h.positions, h.revisions, h.attempts, h.hand_outs) AS u (entry_id, position, revision, attempts, hand_outs)
    ) AS p
    WHERE (SELECT storing AND NOT complete FROM good)
    GROUP BY h.attempt_id, h.part HAVING bool_or(p.done)
),
cut AS (
    UPDATE lease AS l SET entry_ids = r.entry_ids, positions = r.positions, revisions = r.revisions,
        attempts = r.attempts, hand_outs = r.hand_outs
    FROM remaining AS r
    WHERE l.attempt_id = ANY (@attempt_ids) AND l.attempt_id = r.attempt_id AND l.part = r.part AND r.entry_ids IS NOT NULL
),
done AS (
    DELETE FROM lease AS l
    USING (
        SELECT attempt_id, part FROM held WHERE lease_until > (SELECT at FROM clock) AND (SELECT storing AND complete FROM good)
        UNION ALL SELECT attempt_id, part FROM remaining WHERE entry_ids IS NULL
    ) AS r
    WHERE l.attempt_id = ANY (@attempt_ids) AND l.attempt_id = r.attempt_id AND l.part = r.part
),
-- What is released changes with a result of a released entry.
bump AS (
    UPDATE change SET n = n + 1, nonce = (random() * 9e18)::bigint
    WHERE organism_id = @organism AND scope = 0 AND bucket = pg_backend_pid() % 16
        AND @version = (SELECT current_version FROM organism WHERE id = @organism)
        AND (SELECT released AND storing FROM good)
)
SELECT lines, CASE WHEN lines < cardinality(@accessions) THEN ARRAY(SELECT n FROM matched WHERE n IS NOT NULL AND entry_id IS NOT NULL) END AS list,
    0::bigint AS replaced
FROM good
