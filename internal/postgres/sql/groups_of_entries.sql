-- seqlease groups_of_entries: the groups that entries belong to; entries that don't exist are left out
SELECT e.accession, e.version, e.group_id
FROM unnest(@accessions::text[], @versions::bigint[]) AS k (accession, version)
CROSS JOIN LATERAL (SELECT accession, version, group_id FROM entry WHERE accession = k.accession AND version = k.version OFFSET 0) AS e
