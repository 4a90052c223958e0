-- seqlease delete_tickets (L10, L17): waits for claims that are taking one of them, and gives groups the turns back; version 0 means every one
WITH gone AS MATERIALIZED (
    DELETE FROM ticket WHERE ctid = ANY (ARRAY(
        SELECT t.ctid
        FROM (
            SELECT pv.version, k.id FROM pipeline_version AS pv CROSS JOIN unnest(@ids::bigint[]) AS k (id)
            WHERE pv.organism_id = @organism::int AND @version::bigint IN (0, pv.version) ORDER BY pv.version, k.id OFFSET 0
        ) AS k
        CROSS JOIN LATERAL (
            SELECT ctid FROM ticket WHERE pipeline_version = k.version AND entry_id = k.id OFFSET 0 FOR UPDATE
        ) AS t))
    RETURNING entry_id, pipeline_version, lane, attempts, hand_outs
),
-- The row is there, but for a store that was changed by hand.
returned AS (
    INSERT INTO turn (organism_id, pipeline_version, lane, group_id, last_rank)
    SELECT @organism, g.pipeline_version, g.lane, e.group_id, -count(*)
    FROM gone AS g CROSS JOIN LATERAL (SELECT group_id FROM entry WHERE id = g.entry_id OFFSET 0) AS e
    WHERE g.lane < 2 GROUP BY g.pipeline_version, g.lane, e.group_id ORDER BY g.pipeline_version, g.lane, e.group_id
    ON CONFLICT (organism_id, pipeline_version, lane, group_id) DO UPDATE SET last_rank = turn.last_rank + excluded.last_rank
)
SELECT entry_id, pipeline_version, attempts, hand_outs FROM gone
