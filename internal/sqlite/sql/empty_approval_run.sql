-- seqlease empty_approval_run (L10)
DELETE FROM approval_run
