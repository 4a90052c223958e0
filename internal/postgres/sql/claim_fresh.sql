-- seqlease claim_fresh (L2, L10, L11, L13, L16, L17): what claim does in its second round and no other, for one claim or several that go together: it takes fresh entries and bulk work, as nearly every claim does, and if it finds none that says nothing of the others
WITH live AS MATERIALIZED (
    SELECT o.current_version, pv.version IS NOT NULL AS registered, o.paused OR coalesce(pv.paused, false) AS paused,
        CASE WHEN pv.version >= o.current_version AND NOT o.paused AND NOT pv.paused THEN @n::int ELSE 0 END AS wanted
    FROM organism AS o
    LEFT JOIN pipeline_version AS pv ON pv.organism_id = o.id AND pv.version = @version::bigint
    WHERE o.id = @organism::int
),
mark AS MATERIALIZED (
    SELECT lpad(sum(n)::text, 19, '0') || '-' || left(md5(string_agg(nonce::text, ',' ORDER BY bucket)), 16) AS mark
    FROM change WHERE organism_id = @organism AND scope = @version
),
-- What lies behind the bounds needs no look at the mark at which there was nothing:
-- to pass the dead tickets takes long, while an old transaction keeps them.
-- ARRAY(…) is evaluated once whatever the plan, so its LIMIT can't be exceeded,
-- and a LIMIT of 0 scans nothing. Rows are deleted by where they lie: by key, a
-- planner may well compare every ticket with every element.
queued AS MATERIALIZED (
    DELETE FROM ticket
    WHERE ctid = ANY (ARRAY(
        SELECT t.ctid
        FROM unnest(@lanes::smallint[], @behind::boolean[], @from_ranks::bigint[], @from_ids::bigint[], @to_ranks::bigint[], @to_ids::bigint[])
            AS s (lane, behind, from_rank, from_id, to_rank, to_id)
        CROSS JOIN LATERAL (
            SELECT ctid FROM ticket
            WHERE organism_id = @organism AND pipeline_version = @version AND lane = s.lane
                AND (rank, entry_id) > (s.from_rank, s.from_id) AND (rank, entry_id) <= (s.to_rank, s.to_id)
            ORDER BY rank, entry_id LIMIT @n FOR UPDATE SKIP LOCKED
        ) AS t
        WHERE NOT s.behind OR (SELECT mark FROM mark) <> @exhausted::text
        LIMIT (SELECT wanted FROM live)))
    RETURNING lane, rank, entry_id, attempts, hand_outs
),
-- Each claim's share begins where the one before ends. OFFSET 0 keeps this a look-up
-- by key for each ticket, in their order. A ticket whose entry is gone ends here.
picked AS MATERIALIZED (
    SELECT width_bucket(p.number, @starts::bigint[]) AS share, p.number, p.lane, p.rank, p.entry_id, p.attempts, p.hand_outs,
        p.revision, p.accession, p.version, p.submission_id, p.submitter, p.group_id, p.submitted_at, p.dictionary_id, p.submitted
    FROM (
        SELECT row_number() OVER (ORDER BY q.lane, q.rank, q.entry_id) AS number, q.lane, q.rank, q.entry_id,
            least(q.attempts + 1, 32767)::smallint AS attempts, q.hand_outs + 1 AS hand_outs,
            e.revision, e.accession, e.version, e.submission_id, e.submitter, e.group_id, e.submitted_at, e.dictionary_id, e.submitted
        FROM (SELECT lane, rank, entry_id, attempts, hand_outs FROM queued ORDER BY lane, rank, entry_id) AS q
        CROSS JOIN LATERAL (
            SELECT revision, accession, version, submission_id, submitter, group_id, submitted_at, dictionary_id, submitted
            FROM entry WHERE id = q.entry_id OFFSET 0
        ) AS e
    ) AS p
),
lists AS MATERIALIZED (
    SELECT share, array_agg(entry_id) AS entry_ids, array_agg((number - (@starts)[share])::smallint) AS positions, array_agg(revision) AS revisions,
        array_agg(attempts) AS attempts, array_agg(hand_outs) AS hand_outs, min(entry_id) AS first_entry_id, max(entry_id) AS last_entry_id,
        sum(octet_length(submitted)) AS bytes
    FROM picked GROUP BY share
),
placed AS (
    INSERT INTO lease (attempt_id, part, organism_id, pipeline_version, lease_until, lease_seconds, claimed_by, worker_id,
        entry_ids, positions, revisions, attempts, hand_outs)
    SELECT (@attempts::uuid[])[share], 0, @organism, @version, now() + (@seconds::int[])[share] * interval '1 second', (@seconds)[share],
        (@claimed_by::text[])[share], (@worker_ids::text[])[share], entry_ids, positions, revisions, attempts, hand_outs
    FROM lists
),
record AS (
    INSERT INTO claim_record (organism_id, lease_seconds, pipeline_version, attempt_id, claimed_by, worker_id, first_entry_id, last_entry_id,
        attempts, entry_ids)
    SELECT @organism, (@seconds)[share], @version, (@attempts)[share], (@claimed_by)[share], (@worker_ids)[share], first_entry_id, last_entry_id,
        attempts, entry_ids
    FROM lists
)
SELECT now() AS now,
    (SELECT mark FROM mark) AS mark,
    current_version, registered, paused,
    NULL::int AS share, NULL::smallint AS lane, NULL::bigint AS rank, NULL::bigint AS entry_id,
    NULL AS accession, NULL::bigint AS version, NULL AS submission_id, NULL AS submitter, NULL::bigint AS group_id, NULL::timestamptz AS submitted_at,
    NULL::smallint AS attempts, NULL::bigint AS dictionary_id, NULL::bytea AS submitted
FROM live
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, share, lane, rank, entry_id, accession, version, submission_id, submitter, group_id, submitted_at, attempts,
    dictionary_id,
    -- A document's length is known without reading it.
    CASE WHEN (SELECT max(bytes) FROM lists) <= @payload::bigint OR entry_id = ANY (ARRAY(
        SELECT entry_id
        FROM (SELECT entry_id, sum(octet_length(submitted)) OVER (PARTITION BY share ORDER BY number) AS bytes FROM picked) AS p
        WHERE bytes <= @payload)) THEN submitted END
FROM picked
