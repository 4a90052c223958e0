-- seqlease bump (L13): note a change; scope 0 is what is released, else the queue of a pipeline version
UPDATE change SET n = n + 1, nonce = randomblob(8)
WHERE organism_id = @organism_id AND scope = @scope
RETURNING (SELECT o.key FROM organism AS o WHERE o.id = organism_id)
