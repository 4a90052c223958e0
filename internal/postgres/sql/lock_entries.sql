-- seqlease lock_entries (L10): locks the named entries in order of id; those that don't exist are not returned
SELECT e.id, e.accession, e.version, o.key AS organism
FROM unnest(@accessions::text[], @versions::bigint[]) AS k (accession, version)
JOIN entry AS e ON e.accession = k.accession AND e.version = k.version
JOIN organism AS o ON o.id = e.organism_id
ORDER BY e.id FOR UPDATE OF e
