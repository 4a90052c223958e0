-- seqlease put_in_quarantine (L9, L13): the system's results of locked entries that are out of the queue, unless a good one is there, and why
WITH verdict AS MATERIALIZED (
    SELECT k.id, k.version, k.attempts, k.hand_outs, k.attempt_id, k.reason, k.dictionary_id, k.digest, k.body, e.revision, e.released,
        r.outcome IS NULL AS stores
    FROM unnest(@ids::bigint[], @versions::bigint[], @attempts::int[], @hand_outs::int[], @attempt_ids::uuid[], @reasons::text[],
        @dictionaries::bigint[], @digests::bytea[], @bodies::bytea[])
        AS k (id, version, attempts, hand_outs, attempt_id, reason, dictionary_id, digest, body)
    CROSS JOIN LATERAL (SELECT revision, released_at IS NOT NULL AS released FROM entry WHERE id = k.id OFFSET 0) AS e
    LEFT JOIN LATERAL (
        SELECT outcome FROM result
        WHERE pipeline_version = k.version AND entry_id = k.id AND revision = e.revision AND outcome < 2 OFFSET 0
    ) AS r ON true
),
stored AS (
    INSERT INTO result (pipeline_version, entry_id, attempt_id, dictionary_id, processed_at, organism_id, revision,
        claimed_by_sum, outcome, digest, body)
    SELECT version, id, attempt_id, dictionary_id, clock_timestamp(), @organism::int, revision, 0, 2, digest, body
    FROM verdict WHERE stores ORDER BY version, id
    ON CONFLICT (pipeline_version, entry_id) DO UPDATE SET
        attempt_id = excluded.attempt_id, dictionary_id = excluded.dictionary_id, processed_at = excluded.processed_at,
        revision = excluded.revision, claimed_by_sum = excluded.claimed_by_sum, outcome = excluded.outcome,
        digest = excluded.digest, body = excluded.body
),
noted AS (
    INSERT INTO quarantine (pipeline_version, entry_id, organism_id, attempts, hand_outs, attempt_id, operator, reason)
    SELECT version, id, @organism, attempts, hand_outs, CASE WHEN stores THEN attempt_id END, @operator::text, reason
    FROM verdict ORDER BY version, id
    ON CONFLICT (pipeline_version, entry_id) DO UPDATE SET
        at = excluded.at, attempts = excluded.attempts, hand_outs = excluded.hand_outs, attempt_id = excluded.attempt_id,
        operator = excluded.operator, reason = excluded.reason
)
SELECT EXISTS (
    SELECT FROM verdict WHERE stores AND released AND version = (SELECT current_version FROM organism WHERE id = @organism)
) AS released
