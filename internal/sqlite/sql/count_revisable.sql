-- seqlease count_revisable: how many entries read_revisable finds
SELECT count(*)
FROM known_entry AS e
WHERE e.organism_id = @organism_id AND e.group_id = @group_id AND e.released_at IS NOT NULL AND NOT e.is_revocation
  AND (@accessions IS NULL OR e.accession IN (SELECT value FROM json_each(@accessions)))
  AND NOT EXISTS (SELECT 1 FROM published_entry AS h WHERE h.accession = e.accession AND h.version > e.version)
