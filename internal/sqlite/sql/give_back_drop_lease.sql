-- seqlease give_back_drop_lease (L8)
DELETE FROM lease WHERE attempt_id = @attempt_id
