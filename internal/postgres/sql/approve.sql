-- seqlease approve (L10, L11, V9): releases those of the locked entries that are processed and good enough at this instant, all with one instant; a result counts also while the entry is processed again
WITH clock AS MATERIALIZED (
    SELECT clock_timestamp() AS at, id AS organism_id, current_version FROM organism WHERE id = @organism::int FOR SHARE
),
-- A result that is just being replaced is waited for and judged anew.
judged AS MATERIALIZED (
    SELECT r.entry_id, r.revision
    FROM (SELECT id FROM unnest(@ids::bigint[]) AS k (id) ORDER BY id OFFSET 0) AS k
    CROSS JOIN LATERAL (
        SELECT entry_id, revision FROM result
        WHERE pipeline_version = (SELECT current_version FROM clock) AND entry_id = k.id AND outcome <= @worst::smallint OFFSET 0 FOR SHARE
    ) AS r
)
UPDATE entry AS e SET released_at = clock.at, approver = @approver::text
FROM clock
WHERE e.id = ANY (@ids) AND e.released_at IS NULL
    AND (@groups::bigint[] IS NULL OR e.group_id = ANY (@groups))
    AND (@submitters::text[] IS NULL OR e.submitter = ANY (@submitters))
    AND (e.is_revocation OR (e.id, e.revision) IN (SELECT entry_id, revision FROM judged))
RETURNING e.accession, e.version
