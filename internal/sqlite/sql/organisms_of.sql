-- seqlease organisms_of (L5): of which organisms entries are; those that don't exist are left out
SELECT e.accession, e.version, o.key
FROM (SELECT value ->> 0 AS accession, value ->> 1 AS version FROM json_each(@entries)) AS v
CROSS JOIN published_entry AS e ON e.accession = v.accession AND e.version = v.version
CROSS JOIN organism AS o ON o.id = e.organism_id
