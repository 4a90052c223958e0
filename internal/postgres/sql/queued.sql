-- seqlease queued (L10): whether any of the entries has a ticket or a place in a lease, as one snapshot shows it
SELECT EXISTS (
    SELECT FROM pipeline_version AS pv
    CROSS JOIN unnest(@ids::bigint[]) AS k (id)
    CROSS JOIN LATERAL (
        SELECT FROM ticket WHERE organism_id = @organism::int AND pipeline_version = pv.version AND entry_id = k.id OFFSET 0
    ) AS t
    WHERE pv.organism_id = @organism
) OR EXISTS (SELECT FROM lease WHERE organism_id = @organism AND entry_ids && @ids) AS queued
