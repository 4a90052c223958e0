-- seqlease give_back_state (L8): the lease, if it still runs
SELECT organism_id, pipeline_version FROM lease WHERE attempt_id = @attempt_id AND lease_until > (SELECT now FROM clock)
