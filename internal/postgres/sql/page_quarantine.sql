-- seqlease page_quarantine (L16): quarantined entries by id, and which of them an operator means
WITH named AS MATERIALIZED (
    SELECT e.id
    FROM unnest(@accessions::text[], @versions::bigint[]) AS k (accession, version)
    CROSS JOIN LATERAL (
        SELECT id FROM entry WHERE accession = k.accession AND version = k.version AND organism_id IS NOT DISTINCT FROM @organism::int OFFSET 0
    ) AS e
),
page AS MATERIALIZED (
    SELECT DISTINCT entry_id AS id FROM quarantine
    WHERE organism_id = @organism AND entry_id > @after::bigint AND (@any::boolean OR entry_id IN (SELECT id FROM named))
    ORDER BY entry_id LIMIT @limit::int
)
SELECT p.id, e.revision,
    (@submitted_from::timestamptz IS NULL OR e.submitted_at >= @submitted_from) AND (@submitted_to::timestamptz IS NULL OR e.submitted_at < @submitted_to)
    AND (@worker_id::text = '' OR EXISTS (
        SELECT FROM failure WHERE entry_id = p.id AND revision = e.revision AND @version::bigint IN (0, pipeline_version) AND worker_id = @worker_id
    )) AS meant
FROM page AS p
CROSS JOIN LATERAL (SELECT revision, submitted_at FROM entry WHERE id = p.id OFFSET 0) AS e
ORDER BY p.id
