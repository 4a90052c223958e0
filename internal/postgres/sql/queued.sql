-- seqlease queued (L10): whether any of the entries has a ticket or a place in a lease, as one snapshot shows it; version 0 means every one
WITH named AS MATERIALIZED (
    SELECT unnest(@ids::bigint[]) AS id
)
SELECT EXISTS (
    SELECT FROM pipeline_version AS pv
    CROSS JOIN named AS k
    CROSS JOIN LATERAL (SELECT FROM ticket WHERE pipeline_version = pv.version AND entry_id = k.id OFFSET 0) AS t
    WHERE pv.organism_id = @organism::int AND @version::bigint IN (0, pv.version)
) OR EXISTS (
    SELECT FROM lease
    WHERE organism_id = @organism AND @version IN (0, pipeline_version)
        AND (SELECT bool_or(u.id IN (SELECT id FROM named)) FROM unnest(entry_ids) AS u (id))
) AS queued
