-- seqlease organism_id: the id of an organism
SELECT id FROM organism WHERE key = @key::text
