-- seqlease select_quarantined (L16): a page of the entries in quarantine
SELECT DISTINCT q.entry_id
FROM quarantine AS q
CROSS JOIN published_entry AS e ON e.id = q.entry_id
WHERE q.organism_id = @organism_id AND q.entry_id > @after
  AND (@from IS NULL OR e.submitted_at >= @from) AND (@to IS NULL OR e.submitted_at < @to)
ORDER BY q.entry_id
LIMIT @limit
