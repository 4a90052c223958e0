-- seqlease find_backfill (V3, V4): those of the next entries that have neither ticket, lease nor present result, with their groups; no entry is locked, so confirm_backfill follows
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
span AS MATERIALIZED (
    SELECT count(*) AS looked, min(id) AS first_id, max(id) AS last_id FROM (SELECT id FROM unreleased UNION ALL SELECT id FROM released) AS p
),
-- What the version has there already: nothing or little while its backfill comes by
-- for the first time, and then it is read at once.
waiting AS MATERIALIZED (
    SELECT t.entry_id FROM span
    CROSS JOIN LATERAL (
        SELECT entry_id FROM ticket WHERE pipeline_version = @version::bigint AND entry_id BETWEEN span.first_id AND span.last_id LIMIT @limit
    ) AS t
),
processed AS MATERIALIZED (
    SELECT r.entry_id, r.revision FROM span
    CROSS JOIN LATERAL (
        SELECT entry_id, revision FROM result WHERE pipeline_version = @version AND entry_id BETWEEN span.first_id AND span.last_id LIMIT @limit
    ) AS r
),
few AS MATERIALIZED (
    SELECT (SELECT count(*) FROM waiting) < @limit AS waiting, (SELECT count(*) FROM processed) < @limit AS processed
),
held AS MATERIALIZED (
    SELECT u.entry_id FROM span CROSS JOIN lease AS l CROSS JOIN LATERAL unnest(l.entry_ids) AS u (entry_id)
    WHERE l.organism_id = @organism AND l.pipeline_version = @version AND u.entry_id BETWEEN span.first_id AND span.last_id
),
gap AS MATERIALIZED (
    SELECT p.id, p.group_id
    FROM (SELECT id, group_id, revision, is_revocation FROM unreleased UNION ALL SELECT id, group_id, revision, is_revocation FROM released) AS p
    WHERE NOT p.is_revocation AND p.id NOT IN (SELECT entry_id FROM held)
        -- OFFSET 0 keeps the others look-ups by key for each entry.
        AND CASE WHEN (SELECT waiting FROM few) THEN p.id NOT IN (SELECT entry_id FROM waiting)
            ELSE NOT EXISTS (SELECT FROM ticket WHERE pipeline_version = @version AND entry_id = p.id OFFSET 0) END
        AND CASE WHEN (SELECT processed FROM few) THEN (p.id, p.revision) NOT IN (SELECT entry_id, revision FROM processed)
            ELSE NOT EXISTS (SELECT FROM result WHERE pipeline_version = @version AND entry_id = p.id AND revision = p.revision OFFSET 0) END
)
SELECT span.looked, coalesce((SELECT max(id) FROM unreleased), @after_id) AS last_id, coalesce(last.accession, @after_accession) AS last_accession,
    coalesce((SELECT max(version) FROM released WHERE accession = last.accession), @after_version) AS last_version, found.ids, found.groups
FROM span, (SELECT max(accession) AS accession FROM released) AS last,
    (SELECT coalesce(array_agg(id), '{}') AS ids, coalesce(array_agg(group_id), '{}') AS groups FROM gap) AS found
