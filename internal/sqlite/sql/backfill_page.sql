-- seqlease backfill_page (V3): the next entries that are looked at
SELECT id, accession, version
FROM entry
WHERE organism_id = @organism_id AND (accession, version) > (@after_accession, @after_version)
ORDER BY organism_id, accession, version
LIMIT @limit
