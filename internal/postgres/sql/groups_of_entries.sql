-- seqlease groups_of_entries: the groups that entries belong to; entries that don't exist are left out
SELECT e.accession, e.version, e.group_id
FROM unnest(@accessions::text[], @versions::bigint[]) AS k (accession, version)
JOIN entry AS e ON e.accession = k.accession AND e.version = k.version
