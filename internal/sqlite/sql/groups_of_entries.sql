-- seqlease groups_of_entries
SELECT e.accession, e.version, e.group_id
FROM (SELECT value ->> 0 AS accession, value ->> 1 AS version FROM json_each(@entries)) AS v
CROSS JOIN published_entry AS e ON e.accession = v.accession AND e.version = v.version
