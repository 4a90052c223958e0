-- seqlease highest_versions: the group is that of the highest version
SELECT e.accession, max(e.version), e.group_id
FROM json_each(@accessions) AS v
CROSS JOIN published_entry AS e ON e.accession = v.value
GROUP BY e.accession
