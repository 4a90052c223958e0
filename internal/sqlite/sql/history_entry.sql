-- seqlease history_entry (L16)
SELECT e.id, e.organism_id
FROM published_entry AS e
WHERE e.accession = @accession AND e.version = @version
  AND e.organism_id = (SELECT o.id FROM organism AS o WHERE o.key = @organism)
