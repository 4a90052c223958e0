-- seqlease backfill_turns (L17): the head of a version's bulk work, and the last ranks there of groups, in their order
SELECT coalesce(
        (SELECT rank FROM ticket
            WHERE organism_id = @organism::int AND pipeline_version = @version::bigint AND lane = 1 AND (rank, entry_id) > (@bound_rank::bigint, @bound_id::bigint)
            ORDER BY rank, entry_id LIMIT 1),
        (SELECT last_rank FROM turn WHERE organism_id = @organism AND pipeline_version = @version AND lane = 1 ORDER BY last_rank DESC LIMIT 1),
        0) AS head,
    array_agg(coalesce((SELECT last_rank FROM turn
        WHERE organism_id = @organism AND pipeline_version = @version AND lane = 1 AND group_id = g.id), 0) ORDER BY g.n) AS last_ranks
FROM unnest(@groups::bigint[]) WITH ORDINALITY AS g (id, n)
