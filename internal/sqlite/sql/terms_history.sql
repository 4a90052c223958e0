-- seqlease terms_history: oldest first; of an upload under way nobody sees anything (L1)
SELECT t.change_number, t.changed_at, t.changed_by, t.terms, coalesce(t.restricted_until, '')
FROM data_use_terms AS t
WHERE t.accession = @accession AND t.change_number > @after
  AND (EXISTS (SELECT 1 FROM published_entry AS e WHERE e.accession = @accession)
       OR NOT EXISTS (SELECT 1 FROM entry AS e WHERE e.accession = @accession))
ORDER BY t.change_number
LIMIT @limit
