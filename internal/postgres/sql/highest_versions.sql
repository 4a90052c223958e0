-- seqlease highest_versions: the highest version of each accession and its group; accessions without an entry are left out
SELECT e.accession, e.version, e.group_id
FROM unnest(@accessions::text[]) AS k (accession)
CROSS JOIN LATERAL (SELECT accession, version, group_id FROM entry WHERE accession = k.accession ORDER BY version DESC LIMIT 1) AS e
