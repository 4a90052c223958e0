-- seqlease empty_result (L10)
DELETE FROM result
