-- seqlease organisms_of (L5): of which organisms entries are; those that don't exist are left out
SELECT e.accession, e.version, o.key
FROM unnest(@accessions::text[], @versions::bigint[]) AS k (accession, version)
CROSS JOIN LATERAL (SELECT accession, version, organism_id FROM entry WHERE accession = k.accession AND version = k.version OFFSET 0) AS e
CROSS JOIN LATERAL (SELECT key FROM organism WHERE id = e.organism_id OFFSET 0) AS o
