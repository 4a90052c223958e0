-- seqlease lock_accessions (L10): locks every version of the accessions in order of id; an accession without one is not returned
WITH named AS MATERIALIZED (
    SELECT e.id
    FROM unnest(@accessions::text[]) AS k (accession)
    CROSS JOIN LATERAL (SELECT id FROM entry WHERE accession = k.accession OFFSET 0) AS e
    ORDER BY e.id
)
SELECT e.accession, e.organism_id
FROM named
CROSS JOIN LATERAL (SELECT accession, organism_id FROM entry WHERE id = named.id OFFSET 0 FOR UPDATE) AS e
