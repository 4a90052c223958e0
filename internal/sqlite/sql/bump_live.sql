-- seqlease bump_live (L13): note that work was added for each live pipeline version
UPDATE change SET n = n + 1, nonce = randomblob(8)
WHERE organism_id = @organism_id AND scope IN (SELECT p.version FROM live_version AS p WHERE p.organism_id = @organism_id)
