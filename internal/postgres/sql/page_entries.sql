-- seqlease page_entries (L16): entries by id, and which of them an operator means
WITH named AS MATERIALIZED (
    SELECT DISTINCT e.id
    FROM unnest(@accessions::text[], @versions::bigint[]) AS k (accession, version)
    CROSS JOIN LATERAL (
        SELECT id FROM entry WHERE accession = k.accession AND version = k.version AND organism_id IS NOT DISTINCT FROM @organism::int OFFSET 0
    ) AS e
),
page AS MATERIALIZED (
    (SELECT id FROM entry WHERE @any::boolean AND organism_id = @organism AND id > @after::bigint ORDER BY id LIMIT @limit::int)
    UNION ALL
    (SELECT id FROM named WHERE NOT @any AND id > @after ORDER BY id LIMIT @limit)
)
SELECT p.id, e.revision,
    (@submitted_from::timestamptz IS NULL OR e.submitted_at >= @submitted_from) AND (@submitted_to::timestamptz IS NULL OR e.submitted_at < @submitted_to)
    AND (@error::text = '' OR EXISTS (
        SELECT FROM failure
        WHERE entry_id = p.id AND revision = e.revision AND @version::bigint IN (0, pipeline_version) AND position(@error IN reason) > 0))
    AND (@worker_id::text = '' OR EXISTS (
        SELECT FROM failure WHERE entry_id = p.id AND revision = e.revision AND @version IN (0, pipeline_version) AND worker_id = @worker_id
    ) OR p.id IN (
        SELECT unnest(entry_ids) FROM lease WHERE organism_id = @organism AND @version IN (0, pipeline_version) AND worker_id = @worker_id
    )) AS meant
FROM page AS p
CROSS JOIN LATERAL (SELECT revision, submitted_at FROM entry WHERE id = p.id OFFSET 0) AS e
ORDER BY p.id
