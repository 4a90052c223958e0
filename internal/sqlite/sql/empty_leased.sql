-- seqlease empty_leased (L10)
DELETE FROM leased
