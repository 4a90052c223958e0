-- seqlease bump_everything (L13, L14): note a change of every queue and of all that is released
UPDATE change SET n = n + 1, nonce = randomblob(8)
