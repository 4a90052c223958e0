-- seqlease select_listed (L16): a page of the listed entries
SELECT DISTINCT e.id
FROM json_each(@entries) AS v
CROSS JOIN published_entry AS e ON e.accession = v.value ->> 0 AND e.version = v.value ->> 1
WHERE e.organism_id = @organism_id AND e.id > @after
  AND (@from IS NULL OR e.submitted_at >= @from) AND (@to IS NULL OR e.submitted_at < @to)
ORDER BY e.id
LIMIT @limit
