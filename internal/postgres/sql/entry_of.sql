-- seqlease entry_of (L16): the id of an entry of the organism
SELECT id FROM entry WHERE accession = @accession::text AND version = @version::bigint AND organism_id IS NOT DISTINCT FROM @organism::int
