-- seqlease fill_gaps (L1, V4, L14, L17): tickets, in turns of their groups, for locked entries that have neither ticket, lease nor present result for a live version whose backfill is complete; bulk work for versions that aren't current
WITH held AS MATERIALIZED (
    SELECT pipeline_version, unnest(entry_ids) AS entry_id FROM lease
),
gap AS MATERIALIZED (
    SELECT e.id, e.organism_id, e.group_id, pv.version, CASE WHEN pv.version = o.current_version THEN 0 ELSE 1 END::smallint AS lane
    FROM unnest(@ids::bigint[]) AS k (id)
    CROSS JOIN LATERAL (SELECT id, organism_id, group_id, revision FROM entry WHERE id = k.id AND NOT is_revocation OFFSET 0) AS e
    JOIN organism AS o ON o.id = e.organism_id
    JOIN pipeline_version AS pv ON pv.organism_id = o.id AND pv.version >= o.current_version
    WHERE NOT EXISTS (SELECT FROM backfill WHERE organism_id = o.id AND pipeline_version = pv.version)
        AND NOT EXISTS (SELECT FROM ticket WHERE pipeline_version = pv.version AND entry_id = e.id OFFSET 0)
        AND NOT EXISTS (SELECT FROM result WHERE pipeline_version = pv.version AND entry_id = e.id AND revision = e.revision OFFSET 0)
        AND (pv.version, e.id) NOT IN (SELECT pipeline_version, entry_id FROM held)
),
head AS MATERIALIZED (
    SELECT q.organism_id, q.version, q.lane, coalesce(
        (SELECT rank FROM ticket
            WHERE organism_id = q.organism_id AND pipeline_version = q.version AND lane = q.lane ORDER BY rank, entry_id LIMIT 1),
        (SELECT last_rank FROM turn
            WHERE organism_id = q.organism_id AND pipeline_version = q.version AND lane = q.lane ORDER BY last_rank DESC LIMIT 1),
        0) AS rank
    FROM (SELECT DISTINCT organism_id, version, lane FROM gap) AS q
),
meant AS MATERIALIZED (
    SELECT g.id, g.organism_id, g.version, g.lane, g.group_id, h.rank AS head,
        row_number() OVER (PARTITION BY g.organism_id, g.version, g.group_id ORDER BY g.id) AS n, count(*) OVER (PARTITION BY g.organism_id, g.version, g.group_id) AS of
    FROM gap AS g JOIN head AS h ON h.organism_id = g.organism_id AND h.version = g.version
),
turns AS MATERIALIZED (
    INSERT INTO turn AS t (organism_id, pipeline_version, lane, group_id, last_rank)
    SELECT organism_id, version, lane, group_id, head + of FROM meant WHERE n = 1 ORDER BY organism_id, version, lane, group_id
    ON CONFLICT (organism_id, pipeline_version, lane, group_id) DO UPDATE
        SET last_rank = greatest(excluded.last_rank, t.last_rank + (
            SELECT m.of FROM meant AS m
            WHERE m.n = 1 AND m.organism_id = excluded.organism_id AND m.version = excluded.pipeline_version AND m.group_id = excluded.group_id))
    RETURNING organism_id, pipeline_version, group_id, last_rank
),
filled AS MATERIALIZED (
    INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id)
    SELECT m.organism_id, m.version, m.lane, t.last_rank - m.of + m.n, m.id
    FROM meant AS m JOIN turns AS t ON t.organism_id = m.organism_id AND t.pipeline_version = m.version AND t.group_id = m.group_id
    ORDER BY m.version, m.id
    ON CONFLICT DO NOTHING
    RETURNING organism_id, pipeline_version, lane, rank
),
counter AS MATERIALIZED (
    SELECT organism_id, scope, bucket FROM change
    WHERE (organism_id, scope) IN (SELECT organism_id, pipeline_version FROM filled) AND bucket = pg_backend_pid() % 16
    ORDER BY organism_id, scope FOR NO KEY UPDATE
),
bump AS (
    UPDATE change AS c SET n = c.n + 1, nonce = (random() * 9e18)::bigint
    FROM counter AS k WHERE c.organism_id = k.organism_id AND c.scope = k.scope AND c.bucket = k.bucket
)
SELECT organism_id, pipeline_version, lane, min(rank) AS rank, count(*) AS tickets FROM filled GROUP BY 1, 2, 3
