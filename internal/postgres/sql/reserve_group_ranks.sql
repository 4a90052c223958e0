-- seqlease reserve_group_ranks (L17): reserve_ranks for several groups, each with the number of its entries
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
SELECT @organism, head.version, 0, g.id, head.rank + g.entries
FROM head CROSS JOIN unnest(@group_ids::bigint[], @counts::bigint[]) AS g (id, entries)
ORDER BY head.version, g.id
ON CONFLICT (organism_id, pipeline_version, lane, group_id) DO UPDATE
    SET last_rank = greatest(excluded.last_rank, turn.last_rank + (@counts::bigint[])[array_position(@group_ids::bigint[], turn.group_id)])
RETURNING pipeline_version, group_id, last_rank - (@counts::bigint[])[array_position(@group_ids::bigint[], group_id)] AS before
