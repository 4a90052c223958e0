-- seqlease count_revisable (L12): how many entries read_revisable finds in the same snapshot, and the clock
SELECT count(*) AS entries, now() AS now
FROM entry AS e
WHERE e.organism_id = @organism::int AND e.group_id = @group::bigint AND e.released_at IS NOT NULL AND NOT e.is_revocation
    AND (@accessions::text[] IS NULL OR e.accession = ANY (@accessions))
    AND NOT EXISTS (SELECT FROM entry AS higher WHERE higher.accession = e.accession AND higher.version > e.version OFFSET 0)
