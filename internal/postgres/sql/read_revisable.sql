-- seqlease read_revisable (L12): what was submitted with a group's entries whose highest version is released and no revocation
SELECT e.accession, e.version, e.submission_id, e.submitter, e.is_revocation, e.dictionary_id, e.submitted
FROM entry AS e
WHERE e.organism_id = @organism::int AND e.group_id = @group::bigint AND e.released_at IS NOT NULL AND NOT e.is_revocation
    AND (@accessions::text[] IS NULL OR e.accession = ANY (@accessions))
    AND NOT EXISTS (SELECT FROM entry AS higher WHERE higher.accession = e.accession AND higher.version > e.version OFFSET 0)
ORDER BY e.accession
