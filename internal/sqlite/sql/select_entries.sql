-- seqlease select_entries (L16): a page of the organism's entries
SELECT e.id
FROM published_entry AS e
WHERE +e.organism_id = @organism_id AND e.id > @after -- by id: an index of the organism would have to be sorted
  AND (@from IS NULL OR e.submitted_at >= @from) AND (@to IS NULL OR e.submitted_at < @to)
ORDER BY e.id
LIMIT @limit
