-- seqlease delete_entries (L10): the entries are locked and in no lease; the history of terms stays with the accession
WITH dropped AS (
    DELETE FROM result WHERE ctid = ANY (ARRAY(
        SELECT r.ctid FROM pipeline_version AS pv
        CROSS JOIN unnest(@ids::bigint[]) AS k (id)
        CROSS JOIN LATERAL (SELECT ctid FROM result WHERE pipeline_version = pv.version AND entry_id = k.id OFFSET 0) AS r
        WHERE pv.organism_id = @organism::int))
),
free AS (
    DELETE FROM quarantine WHERE organism_id = @organism AND entry_id = ANY (@ids)
),
archived AS (
    DELETE FROM original_submission WHERE entry_id = ANY (@ids)
),
forgotten AS (
    DELETE FROM failure WHERE entry_id = ANY (@ids)
)
DELETE FROM entry WHERE id = ANY (@ids)
