-- seqlease edit (L10, L17): new data, a new revision, and tickets anew in the next turn of its group; the entry is locked and in no lease
WITH dropped AS MATERIALIZED (
    DELETE FROM result WHERE ctid = ANY (ARRAY(
        SELECT r.ctid FROM pipeline_version AS pv
        CROSS JOIN LATERAL (SELECT ctid FROM result WHERE pipeline_version = pv.version AND entry_id = @id::bigint OFFSET 0) AS r
        WHERE pv.organism_id = @organism::int))
    RETURNING attempt_id
),
-- What was submitted first goes to the archive; the row is there if an earlier edit did so.
kept AS (
    INSERT INTO original_submission (entry_id, dictionary_id, submitted)
    SELECT id, dictionary_id, submitted FROM entry WHERE id = @id AND revision = 1
    ON CONFLICT DO NOTHING
),
changed AS (
    UPDATE entry SET revision = revision + 1, dictionary_id = @dictionary::bigint, submitted = @submitted::bytea,
        superseded_attempts = (
            SELECT array_agg(DISTINCT a) FROM (
                SELECT attempt_id FROM dropped
                UNION ALL SELECT unnest(entry.superseded_attempts)
                UNION ALL SELECT unnest(@cut_attempts::uuid[])
            ) AS superseded (a))
    WHERE id = @id
),
free AS (
    DELETE FROM quarantine WHERE ctid = ANY (ARRAY(
        SELECT q.ctid FROM pipeline_version AS pv
        CROSS JOIN LATERAL (SELECT ctid FROM quarantine WHERE pipeline_version = pv.version AND entry_id = @id OFFSET 0) AS q
        WHERE pv.organism_id = @organism))
),
head AS MATERIALIZED (
    SELECT pv.version, e.group_id, coalesce(
        (SELECT rank FROM ticket
            WHERE organism_id = @organism AND pipeline_version = pv.version AND lane = 0 AND (rank, entry_id) > (b.rank, b.id)
            ORDER BY rank, entry_id LIMIT 1),
        (SELECT last_rank FROM turn
            WHERE organism_id = @organism AND pipeline_version = pv.version AND lane = 0 ORDER BY last_rank DESC LIMIT 1),
        0) AS rank
    FROM entry AS e
    JOIN organism AS o ON o.id = e.organism_id
    JOIN pipeline_version AS pv ON pv.organism_id = o.id AND pv.version >= o.current_version
    LEFT JOIN unnest(@bound_versions::bigint[], @bound_ranks::bigint[], @bound_ids::bigint[]) AS k (version, rank, id) ON k.version = pv.version
    CROSS JOIN LATERAL (SELECT coalesce(k.rank, -1) AS rank, coalesce(k.id, 0) AS id) AS b
    WHERE e.id = @id AND NOT e.is_revocation
),
turns AS MATERIALIZED (
    INSERT INTO turn (organism_id, pipeline_version, lane, group_id, last_rank)
    SELECT @organism, version, 0, group_id, rank + 1 FROM head ORDER BY version
    ON CONFLICT (organism_id, pipeline_version, lane, group_id) DO UPDATE SET last_rank = greatest(excluded.last_rank, turn.last_rank + 1)
    RETURNING pipeline_version, last_rank
)
INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id)
SELECT @organism, pipeline_version, 0, last_rank, @id FROM turns ORDER BY pipeline_version
ON CONFLICT (pipeline_version, entry_id) DO UPDATE SET attempts = 0, hand_outs = 0, lane = 0, rank = excluded.rank
RETURNING pipeline_version, rank
