-- seqlease register_dictionary: a reference is kept once and never changed
INSERT INTO dictionary (digest, bytes) VALUES (@digest, @bytes)
ON CONFLICT (digest) DO UPDATE SET digest = excluded.digest
RETURNING id
