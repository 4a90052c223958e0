-- seqlease requeue (L9, L16, L17): the system's results of locked entries that are out of the queue go, and they wait without attempts, in turns of their groups
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
),
meant AS MATERIALIZED (
    SELECT f.entry_id, e.group_id, row_number() OVER (PARTITION BY e.group_id ORDER BY f.entry_id) AS n, count(*) OVER (PARTITION BY e.group_id) AS of
    FROM free AS f CROSS JOIN LATERAL (SELECT group_id FROM entry WHERE id = f.entry_id OFFSET 0) AS e
),
turns AS MATERIALIZED (
    INSERT INTO turn (organism_id, pipeline_version, lane, group_id, last_rank)
    SELECT @organism, @version, 0, group_id, (SELECT rank FROM head) + count(*) FROM meant GROUP BY group_id ORDER BY group_id
    ON CONFLICT (organism_id, pipeline_version, lane, group_id) DO UPDATE
        SET last_rank = greatest(excluded.last_rank, turn.last_rank + excluded.last_rank - (SELECT rank FROM head))
    RETURNING group_id, last_rank
)
INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id)
SELECT @organism, @version, 0, t.last_rank - m.of + m.n, m.entry_id
FROM meant AS m JOIN turns AS t ON t.group_id = m.group_id
ORDER BY m.entry_id
ON CONFLICT (pipeline_version, entry_id) DO UPDATE SET attempts = 0, hand_outs = 0, lane = 0, rank = excluded.rank
RETURNING pipeline_version, rank
