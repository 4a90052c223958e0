-- seqlease end_lease (L3): a lease without entries is none
DELETE FROM lease WHERE attempt_id = @attempt_id
