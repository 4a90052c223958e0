-- seqlease delete_entries (L10): the entries are locked and in no lease; the history of terms stays with the accession
WITH dropped AS (
    DELETE FROM result WHERE ctid = ANY (ARRAY(
        SELECT r.ctid FROM pipeline_version AS pv
        CROSS JOIN unnest(@ids::bigint[]) AS k (id)
        CROSS JOIN LATERAL (SELECT ctid FROM result WHERE pipeline_version = pv.version AND entry_id = k.id OFFSET 0) AS r
        WHERE pv.organism_id = @organism::int))
),
free AS (
    DELETE FROM quarantine WHERE ctid = ANY (ARRAY(
        SELECT q.ctid FROM pipeline_version AS pv
        CROSS JOIN unnest(@ids) AS k (id)
        CROSS JOIN LATERAL (SELECT ctid FROM quarantine WHERE pipeline_version = pv.version AND entry_id = k.id OFFSET 0) AS q
        WHERE pv.organism_id = @organism))
),
archived AS (
    DELETE FROM original_submission WHERE entry_id = ANY (@ids)
),
-- The terms of an accession outlive its entries: those that no row tells are
-- written down with the first version, which is deleted only if it is the last.
kept AS (
    INSERT INTO data_use_terms (accession, changed_at, restricted, user_name)
    SELECT e.accession, e.submitted_at, false, e.submitter
    FROM unnest(@ids) AS k (id)
    CROSS JOIN LATERAL (SELECT accession, version, submitted_at, submitter FROM entry WHERE id = k.id OFFSET 0) AS e
    WHERE e.version = 1 AND NOT EXISTS (SELECT FROM data_use_terms WHERE accession = e.accession OFFSET 0)
),
forgotten AS (
    DELETE FROM failure WHERE entry_id = ANY (@ids)
)
DELETE FROM entry WHERE id = ANY (@ids)
