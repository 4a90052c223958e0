-- seqlease read_revisable (L12): what was submitted with a group's entries whose highest version is released and no revocation
SELECT e.accession, e.version, e.submission_id, e.submitter, e.is_revocation, coalesce(d.dictionary_id, 0), d.body
FROM known_entry AS e
LEFT JOIN submitted AS d ON d.entry_id = e.id AND d.revision = e.revision
WHERE e.organism_id = @organism_id AND e.group_id = @group_id AND e.released_at IS NOT NULL AND NOT e.is_revocation
  AND (@accessions IS NULL OR e.accession IN (SELECT value FROM json_each(@accessions)))
  AND NOT EXISTS (SELECT 1 FROM published_entry AS h WHERE h.accession = e.accession AND h.version > e.version)
ORDER BY e.accession, e.version
