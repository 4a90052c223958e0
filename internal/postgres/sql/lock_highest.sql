-- seqlease lock_highest (L10): locks the highest version of each accession in order of id; others may have added a higher one by the time it has the lock
WITH named AS MATERIALIZED (
    SELECT e.id
    FROM unnest(@accessions::text[]) AS k (accession)
    CROSS JOIN LATERAL (SELECT id FROM entry WHERE accession = k.accession ORDER BY version DESC LIMIT 1) AS e
    ORDER BY e.id
)
SELECT e.id
FROM named
CROSS JOIN LATERAL (SELECT id FROM entry WHERE id = named.id OFFSET 0 FOR UPDATE) AS e
