-- seqlease cut_lease (L3): results were accepted of all that the lease holds
DELETE FROM leased WHERE attempt_id = @attempt_id
