-- seqlease uploads (L1): those under way
SELECT id FROM upload WHERE deleted_by IS NULL ORDER BY id
