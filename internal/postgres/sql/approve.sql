-- seqlease approve (L4, L10, L11): releases those of the locked entries that are processed and good enough at this instant, all with one instant
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
),
held AS MATERIALIZED (
    SELECT unnest(l.entry_ids) AS entry_id
    FROM clock JOIN lease AS l ON l.organism_id = clock.organism_id AND l.pipeline_version = clock.current_version
    WHERE l.lease_until > clock.at
)
UPDATE entry AS e SET released_at = clock.at, approver = @approver::text
FROM clock
WHERE e.id = ANY (@ids) AND e.released_at IS NULL
    AND (@groups::bigint[] IS NULL OR e.group_id = ANY (@groups))
    AND (@submitters::text[] IS NULL OR e.submitter = ANY (@submitters))
    AND (e.is_revocation OR (e.id, e.revision) IN (SELECT entry_id, revision FROM judged) AND e.id NOT IN (SELECT entry_id FROM held))
RETURNING e.accession, e.version
