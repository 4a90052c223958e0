-- seqlease give_back_cut_leased (L8)
DELETE FROM leased WHERE attempt_id = @attempt_id
