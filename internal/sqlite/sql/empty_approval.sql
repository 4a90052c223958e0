-- seqlease empty_approval (L10)
DELETE FROM approval
