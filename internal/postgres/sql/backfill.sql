-- seqlease backfill (V3, V4, L17): tickets of bulk work, in turns of their groups, for the next entries that have neither ticket, lease nor present result; no entry is locked, so confirm_backfill follows
WITH unreleased AS MATERIALIZED (
    -- Comparing rows leaves no choice but the index with the organism in it.
    SELECT id, group_id, revision, is_revocation FROM entry
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
    SELECT p.id, p.group_id, row_number() OVER in_group AS n, count(*) OVER (PARTITION BY p.group_id) AS of
    FROM (SELECT id, group_id, revision, is_revocation FROM unreleased UNION ALL SELECT id, group_id, revision, is_revocation FROM released) AS p
    WHERE NOT p.is_revocation
        -- OFFSET 0 keeps these look-ups by key for each entry.
        AND NOT EXISTS (SELECT FROM ticket WHERE pipeline_version = @version AND entry_id = p.id OFFSET 0)
        AND NOT EXISTS (SELECT FROM result WHERE pipeline_version = @version AND entry_id = p.id AND revision = p.revision OFFSET 0)
        AND p.id NOT IN (SELECT entry_id FROM held)
    WINDOW in_group AS (PARTITION BY p.group_id ORDER BY p.id)
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
    SELECT g.group_id, g.of, greatest(h.rank, coalesce((
        SELECT last_rank FROM turn WHERE organism_id = @organism AND pipeline_version = @version AND lane = 1 AND group_id = g.group_id), 0)) AS rank
    FROM gap AS g, head AS h WHERE g.n = 1
),
-- Whoever added one of them meanwhile makes the chunk fail, and be made again. A full
-- join can't be a nested loop, however few rows a kept plan expects.
added AS (
    INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id)
    SELECT @organism, @version, 1, b.rank + g.n, g.id FROM gap AS g FULL JOIN before AS b ON b.group_id = g.group_id ORDER BY g.id
)
SELECT (SELECT count(*) FROM unreleased) + (SELECT count(*) FROM released) AS looked,
    coalesce((SELECT max(id) FROM unreleased), @after_id) AS last_id,
    coalesce(last.accession, @after_accession) AS last_accession,
    coalesce((SELECT max(version) FROM released WHERE accession = last.accession), @after_version) AS last_version,
    coalesce((SELECT array_agg(id) FROM gap), '{}') AS ids, (SELECT rank + 1 FROM head) AS first_rank,
    coalesce((SELECT array_agg(group_id ORDER BY group_id) FROM before), '{}') AS groups,
    coalesce((SELECT array_agg(rank + of ORDER BY group_id) FROM before), '{}') AS last_ranks
FROM (SELECT max(accession) AS accession FROM released) AS last
