-- seqlease backfill (V3, V4, L17): tickets of bulk work, in turns of their groups, for the next entries that have neither ticket, lease nor present result; no entry is locked, so confirm_backfill follows
WITH unreleased AS MATERIALIZED (
    -- Comparing rows leaves no choice but the index with the organism in it.
    SELECT id, group_id, revision, is_revocation, accession, version FROM entry
    WHERE released_at IS NULL AND (organism_id, id) > (@organism::int, @after_id::bigint) AND (organism_id, id) < (@organism + 1, 0::bigint)
    ORDER BY organism_id, id LIMIT CASE WHEN @released::boolean THEN 0 ELSE @limit::int END
),
released AS MATERIALIZED (
    SELECT id, group_id, revision, is_revocation, accession, version FROM entry
    WHERE released_at IS NOT NULL AND (organism_id, accession, version) > (@organism, @after_accession::text COLLATE "C", @after_version::bigint)
        AND (organism_id, accession, version) < (@organism + 1, '' COLLATE "C", 0::bigint)
    ORDER BY organism_id, accession, version LIMIT CASE WHEN @released THEN @limit ELSE 0 END
),
held AS MATERIALIZED (
    SELECT unnest(entry_ids) AS entry_id FROM lease WHERE organism_id = @organism AND pipeline_version = @version::bigint
),
gap AS MATERIALIZED (
    SELECT p.id, p.group_id FROM (SELECT * FROM unreleased UNION ALL SELECT * FROM released) AS p
    WHERE NOT p.is_revocation
        -- OFFSET 0 keeps these look-ups by key for each entry.
        AND NOT EXISTS (SELECT FROM ticket WHERE pipeline_version = @version AND entry_id = p.id OFFSET 0)
        AND NOT EXISTS (SELECT FROM result WHERE pipeline_version = @version AND entry_id = p.id AND revision = p.revision OFFSET 0)
        AND p.id NOT IN (SELECT entry_id FROM held)
),
head AS MATERIALIZED (
    SELECT coalesce(
        (SELECT rank FROM ticket
            WHERE organism_id = @organism AND pipeline_version = @version AND lane = 1 AND (rank, entry_id) > (@bound_rank::bigint, @bound_id::bigint)
            ORDER BY rank, entry_id LIMIT 1),
        (SELECT last_rank FROM turn WHERE organism_id = @organism AND pipeline_version = @version AND lane = 1 ORDER BY last_rank DESC LIMIT 1),
        0) AS rank
),
before AS MATERIALIZED (
    SELECT g.group_id, greatest(head.rank, coalesce((
        SELECT last_rank FROM turn WHERE organism_id = @organism AND pipeline_version = @version AND lane = 1 AND group_id = g.group_id), 0)) AS rank
    FROM (SELECT DISTINCT group_id FROM gap) AS g, head
),
-- A full join can't be a nested loop, however few rows a kept plan expects.
meant AS MATERIALIZED (
    SELECT g.id, g.group_id, b.rank + row_number() OVER (PARTITION BY g.group_id ORDER BY g.id) AS rank
    FROM gap AS g FULL JOIN before AS b ON b.group_id = g.group_id
),
added AS MATERIALIZED (
    INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id)
    SELECT @organism, @version, 1, rank, id FROM meant ORDER BY id
    ON CONFLICT (pipeline_version, entry_id) DO NOTHING
    RETURNING entry_id, rank
),
turns AS (
    INSERT INTO turn AS t (organism_id, pipeline_version, lane, group_id, last_rank)
    SELECT @organism, @version, 1, m.group_id, max(a.rank) FROM meant AS m FULL JOIN added AS a ON a.entry_id = m.id
    GROUP BY m.group_id HAVING count(a.rank) > 0 ORDER BY m.group_id
    ON CONFLICT (organism_id, pipeline_version, lane, group_id) DO UPDATE SET last_rank = greatest(excluded.last_rank, t.last_rank)
)
SELECT (SELECT count(*) FROM unreleased) + (SELECT count(*) FROM released) AS looked,
    coalesce((SELECT max(id) FROM unreleased), @after_id) AS last_id,
    coalesce(last.accession, @after_accession) AS last_accession,
    coalesce((SELECT max(version) FROM released WHERE accession = last.accession), @after_version) AS last_version,
    coalesce((SELECT array_agg(entry_id) FROM added), '{}') AS ids, coalesce((SELECT min(rank) FROM added), 0) AS rank
FROM (SELECT max(accession) AS accession FROM released) AS last
