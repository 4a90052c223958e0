-- seqlease edit (L10): new data, a new revision, and tickets anew; the entry is locked and in no lease
WITH dropped AS MATERIALIZED (
    DELETE FROM result WHERE ctid = ANY (ARRAY(
        SELECT r.ctid FROM pipeline_version AS pv
        CROSS JOIN LATERAL (SELECT ctid FROM result WHERE pipeline_version = pv.version AND entry_id = @id::bigint OFFSET 0) AS r
        WHERE pv.organism_id = @organism::int))
    RETURNING attempt_id
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
)
INSERT INTO ticket (organism_id, pipeline_version, entry_id)
SELECT @organism, pv.version, e.id
FROM entry AS e
JOIN organism AS o ON o.id = e.organism_id
JOIN pipeline_version AS pv ON pv.organism_id = o.id AND pv.version >= o.current_version
WHERE e.id = @id AND NOT e.is_revocation
ORDER BY pv.version
ON CONFLICT (organism_id, pipeline_version, entry_id) DO UPDATE SET attempts = 0, hand_outs = 0
