-- seqlease find_dictionary: the organism's id and that of its dictionary with the digest, 0 for none
SELECT o.id, coalesce(d.id, 0) AS dictionary_id
FROM organism AS o LEFT JOIN dictionary AS d ON d.organism_id = o.id AND d.digest = @digest::bytea
WHERE o.key = @key::text
