-- seqlease empty_failure (L10)
DELETE FROM failure
