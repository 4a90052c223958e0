-- seqlease reprocess (L14, L16, L17, V9): bulk work for locked entries with a present result and no place in the queue, in turns of their groups
WITH held AS MATERIALIZED (
    SELECT unnest(entry_ids) AS entry_id FROM lease WHERE organism_id = @organism::int AND pipeline_version = @version::bigint
),
meant AS MATERIALIZED (
    SELECT e.id, e.group_id, row_number() OVER (PARTITION BY e.group_id ORDER BY e.id) AS n, count(*) OVER (PARTITION BY e.group_id) AS of
    FROM unnest(@ids::bigint[]) AS k (id)
    CROSS JOIN LATERAL (SELECT id, group_id, revision FROM entry WHERE id = k.id OFFSET 0) AS e
    WHERE @version >= (SELECT current_version FROM organism WHERE id = @organism)
        AND EXISTS (SELECT FROM result WHERE pipeline_version = @version AND entry_id = e.id AND revision = e.revision OFFSET 0)
        AND NOT EXISTS (SELECT FROM ticket WHERE pipeline_version = @version AND entry_id = e.id OFFSET 0)
        AND e.id NOT IN (SELECT entry_id FROM held)
),
head AS MATERIALIZED (
    SELECT coalesce(
        (SELECT rank FROM ticket
            WHERE organism_id = @organism AND pipeline_version = @version AND lane = 1 AND (rank, entry_id) > (@after_rank::bigint, @after_id::bigint)
            ORDER BY rank, entry_id LIMIT 1),
        (SELECT last_rank FROM turn
            WHERE organism_id = @organism AND pipeline_version = @version AND lane = 1 ORDER BY last_rank DESC LIMIT 1),
        0) AS rank
),
turns AS MATERIALIZED (
    INSERT INTO turn (organism_id, pipeline_version, lane, group_id, last_rank)
    SELECT @organism, @version, 1, group_id, (SELECT rank FROM head) + count(*) FROM meant GROUP BY group_id ORDER BY group_id
    ON CONFLICT (organism_id, pipeline_version, lane, group_id) DO UPDATE
        SET last_rank = greatest(excluded.last_rank, turn.last_rank + excluded.last_rank - (SELECT rank FROM head))
    RETURNING group_id, last_rank
)
INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id)
SELECT @organism, @version, 1, t.last_rank - m.of + m.n, m.id
FROM meant AS m JOIN turns AS t ON t.group_id = m.group_id
ORDER BY m.id
ON CONFLICT DO NOTHING
RETURNING pipeline_version, rank
