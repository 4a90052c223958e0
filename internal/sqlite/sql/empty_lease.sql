-- seqlease empty_lease (L10)
DELETE FROM lease
