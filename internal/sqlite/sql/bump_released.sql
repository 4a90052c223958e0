-- seqlease bump_released (L13): note a change of what is released of some organisms, or of all
UPDATE change SET n = n + 1, nonce = randomblob(8)
WHERE scope = 0 AND (@organism_ids IS NULL OR organism_id IN (SELECT value FROM json_each(@organism_ids)))
