-- seqlease reserve_ranks (L17): an upload's turns in lane 0: after those that its group was given, but not before the head of the queue; the turn stays locked until the upload is committed
WITH head AS MATERIALIZED (
    SELECT pv.version, coalesce(
        (SELECT rank FROM ticket
            WHERE organism_id = @organism::int AND pipeline_version = pv.version AND lane = 0 AND (rank, entry_id) > (b.rank, b.id)
            ORDER BY rank, entry_id LIMIT 1),
        (SELECT last_rank FROM turn
            WHERE organism_id = @organism AND pipeline_version = pv.version AND lane = 0 ORDER BY last_rank DESC LIMIT 1),
        0) AS rank
    FROM organism AS o
    JOIN pipeline_version AS pv ON pv.organism_id = o.id AND pv.version >= o.current_version
    LEFT JOIN unnest(@bound_versions::bigint[], @bound_ranks::bigint[], @bound_ids::bigint[]) AS k (version, rank, id) ON k.version = pv.version
    CROSS JOIN LATERAL (SELECT coalesce(k.rank, -1) AS rank, coalesce(k.id, 0) AS id) AS b
    WHERE o.id = @organism
)
INSERT INTO turn (organism_id, pipeline_version, lane, group_id, last_rank)
SELECT @organism, version, 0, @group_id::bigint, rank + @count::bigint FROM head ORDER BY version
ON CONFLICT (organism_id, pipeline_version, lane, group_id) DO UPDATE
    SET last_rank = greatest(excluded.last_rank, turn.last_rank + @count)
RETURNING pipeline_version, last_rank - @count AS before
