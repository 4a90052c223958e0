-- seqlease lock_entries (L10): locks the named entries in order of id; those that don't exist are not returned
WITH named AS MATERIALIZED (
    SELECT e.id
    FROM unnest(@accessions::text[], @versions::bigint[]) AS k (accession, version)
    CROSS JOIN LATERAL (SELECT id FROM entry WHERE accession = k.accession AND version = k.version OFFSET 0) AS e
    ORDER BY e.id
)
SELECT e.id, e.accession, e.version, (SELECT key FROM organism WHERE id = e.organism_id) AS organism
FROM named
CROSS JOIN LATERAL (SELECT id, accession, version, organism_id FROM entry WHERE id = named.id OFFSET 0 FOR UPDATE) AS e
