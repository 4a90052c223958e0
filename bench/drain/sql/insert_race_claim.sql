-- bench insert_race_claim: whoever inserts the row has the entry; the attempt's id isn't kept
WITH candidate AS MATERIALIZED (
    SELECT e.accession, e.version FROM entry AS e
    WHERE e.organism = 'benchvirus' AND $1::uuid IS NOT NULL AND NOT EXISTS (
        SELECT FROM processing AS p WHERE p.accession = e.accession AND p.version = e.version AND p.pipeline_version = 1)
    ORDER BY e.accession, e.version LIMIT 100
),
won AS (
    INSERT INTO processing (accession, version, pipeline_version)
    SELECT accession, version, 1 FROM candidate
    ON CONFLICT DO NOTHING
    RETURNING accession, version
)
SELECT won.accession, e.document FROM won JOIN entry AS e ON e.accession = won.accession AND e.version = won.version
