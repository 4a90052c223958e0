-- seqlease uploads (L1): those under way
SELECT id FROM upload ORDER BY id
