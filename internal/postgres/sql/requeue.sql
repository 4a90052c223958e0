-- seqlease requeue (L9, L16): the system's results of locked entries that are out of the queue go, and they wait at its head without attempts
WITH free AS MATERIALIZED (
    DELETE FROM quarantine WHERE ctid = ANY (ARRAY(
        SELECT q.ctid FROM unnest(@ids::bigint[]) AS k (id)
        CROSS JOIN LATERAL (SELECT ctid FROM quarantine WHERE pipeline_version = @version::bigint AND entry_id = k.id OFFSET 0) AS q))
    RETURNING entry_id, attempt_id
),
dropped AS (
    DELETE FROM result WHERE ctid = ANY (ARRAY(
        SELECT r.ctid FROM free AS f
        CROSS JOIN LATERAL (
            SELECT ctid FROM result WHERE pipeline_version = @version AND entry_id = f.entry_id AND attempt_id = f.attempt_id OFFSET 0
        ) AS r))
),
head AS MATERIALIZED (
    SELECT coalesce(
        (SELECT rank FROM ticket
            WHERE organism_id = @organism::int AND pipeline_version = @version AND lane = 0 AND (rank, entry_id) > (@after_rank::bigint, @after_id::bigint)
            ORDER BY rank, entry_id LIMIT 1),
        (SELECT last_rank FROM turn
            WHERE organism_id = @organism AND pipeline_version = @version AND lane = 0 ORDER BY last_rank DESC LIMIT 1),
        0) AS rank
)
INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id)
SELECT @organism, @version, 0, (SELECT rank FROM head), entry_id FROM free ORDER BY entry_id
ON CONFLICT (pipeline_version, entry_id) DO UPDATE SET attempts = 0, hand_outs = 0, lane = 0, rank = excluded.rank
RETURNING pipeline_version, rank
