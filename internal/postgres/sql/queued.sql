-- seqlease queued (L10): whether any of the entries has a ticket or a place in a lease, as one snapshot shows it
SELECT EXISTS (
    SELECT FROM ticket
    WHERE organism_id = @organism::int AND entry_id = ANY (@ids::bigint[])
        AND pipeline_version = ANY (ARRAY(SELECT version FROM pipeline_version WHERE organism_id = @organism))
) OR EXISTS (SELECT FROM lease WHERE organism_id = @organism AND entry_ids && @ids) AS queued
