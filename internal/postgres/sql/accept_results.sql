-- seqlease accept_results (L3, L5, L10): the clock is read after the lease rows are locked; lines that are not answered as good are missing
WITH held AS MATERIALIZED (
    SELECT attempt_id, part, lease_until, entry_ids, positions, revisions, attempts, hand_outs
    FROM lease
    WHERE attempt_id = ANY (@attempt_ids::uuid[]) AND organism_id = @organism::int AND pipeline_version = @version::bigint
        AND claimed_by = @claimed_by::text
    ORDER BY attempt_id, part FOR UPDATE
),
place AS MATERIALIZED (
    SELECT h.attempt_id, h.part, p.entry_id, p.position, p.revision, p.attempts, p.hand_outs
    FROM held AS h, unnest(h.entry_ids, h.positions, h.revisions, h.attempts, h.hand_outs)
        AS p (entry_id, position, revision, attempts, hand_outs)
    WHERE h.lease_until > clock_timestamp()
),
line AS MATERIALIZED (
    SELECT l.n, l.attempt_id, l.outcome, l.digest, l.dictionary_id, l.body, e.id AS entry_id, e.revision, e.released
    FROM unnest(@attempts::uuid[], @accessions::text[], @versions::bigint[], @outcomes::smallint[], @digests::bytea[],
        @dictionaries::bigint[], @bodies::bytea[]) WITH ORDINALITY
        AS l (attempt_id, accession, version, outcome, digest, dictionary_id, body, n)
    CROSS JOIN LATERAL (
        SELECT id, revision, released_at IS NOT NULL AS released
        FROM entry WHERE accession = l.accession AND version = l.version AND organism_id = @organism OFFSET 0
    ) AS e
),
-- A full join can't be a nested loop, however few rows a kept plan expects.
matched AS MATERIALIZED (
    SELECT l.n, l.outcome, l.digest, l.dictionary_id, l.body, l.released, p.attempt_id, p.part, p.entry_id, p.position,
        p.revision, p.attempts, p.hand_outs
    FROM line AS l
    FULL JOIN place AS p ON p.entry_id = l.entry_id AND p.attempt_id = l.attempt_id AND p.revision = l.revision
),
good AS MATERIALIZED (
    SELECT count(*) AS lines, coalesce(array_agg(n), '{}') AS list, coalesce(bool_or(released), false) AS released,
        count(*) > 0 AND (NOT @whole::boolean OR count(*) = cardinality(@attempts)) AS storing
    FROM matched WHERE n IS NOT NULL AND part IS NOT NULL
),
stored AS MATERIALIZED (
    INSERT INTO result (pipeline_version, entry_id, attempt_id, dictionary_id, processed_at, organism_id, revision,
        claimed_by_sum, outcome, digest, body)
    SELECT @version, m.entry_id, m.attempt_id, m.dictionary_id, clock_timestamp(), @organism, m.revision,
        @claimed_by_sum::int, m.outcome, m.digest, m.body
    FROM matched AS m
    WHERE m.n IS NOT NULL AND m.part IS NOT NULL AND (SELECT storing FROM good)
    ORDER BY m.entry_id
    ON CONFLICT (pipeline_version, entry_id) DO UPDATE SET
        attempt_id = excluded.attempt_id, dictionary_id = excluded.dictionary_id, processed_at = excluded.processed_at,
        revision = excluded.revision, claimed_by_sum = excluded.claimed_by_sum, outcome = excluded.outcome,
        digest = excluded.digest, body = excluded.body
    RETURNING entry_id, xmax <> '0'::xid AS replaced -- an inserted row has no xmax, an overwritten one carries its lock
),
remaining AS MATERIALIZED (
    SELECT attempt_id, part,
        array_agg(entry_id ORDER BY position) FILTER (WHERE n IS NULL) AS entry_ids,
        array_agg(position ORDER BY position) FILTER (WHERE n IS NULL) AS positions,
        array_agg(revision ORDER BY position) FILTER (WHERE n IS NULL) AS revisions,
        array_agg(attempts ORDER BY position) FILTER (WHERE n IS NULL) AS attempts,
        array_agg(hand_outs ORDER BY position) FILTER (WHERE n IS NULL) AS hand_outs
    FROM matched
    WHERE part IS NOT NULL AND (SELECT storing FROM good)
    GROUP BY attempt_id, part HAVING count(n) > 0
),
cut AS (
    UPDATE lease AS l SET entry_ids = r.entry_ids, positions = r.positions, revisions = r.revisions,
        attempts = r.attempts, hand_outs = r.hand_outs
    FROM remaining AS r
    WHERE l.attempt_id = ANY (@attempt_ids) AND l.attempt_id = r.attempt_id AND l.part = r.part AND r.entry_ids IS NOT NULL
),
done AS (
    DELETE FROM lease AS l
    USING remaining AS r
    WHERE l.attempt_id = ANY (@attempt_ids) AND l.attempt_id = r.attempt_id AND l.part = r.part AND r.entry_ids IS NULL
),
-- A quarantined entry has a result, so only one that replaces another frees it.
free AS (
    DELETE FROM quarantine WHERE ctid = ANY (ARRAY(
        SELECT q.ctid FROM stored AS s
        CROSS JOIN LATERAL (SELECT ctid FROM quarantine WHERE pipeline_version = @version AND entry_id = s.entry_id OFFSET 0) AS q
        WHERE s.replaced))
),
-- What is released changes with a result of a released entry. A result that
-- replaces one may be of an entry that is being approved this very moment.
bump AS (
    UPDATE change SET n = n + 1, nonce = (random() * 9e18)::bigint
    WHERE organism_id = @organism AND scope = 0 AND bucket = pg_backend_pid() % 16
        AND @version = (SELECT current_version FROM organism WHERE id = @organism)
        AND (EXISTS (SELECT FROM stored WHERE replaced) OR (SELECT released AND storing FROM good))
)
SELECT list FROM good
