-- seqlease give_back_state (L8): the lease, if it still runs or was undelivered
SELECT organism_id, pipeline_version FROM lease WHERE attempt_id = @attempt_id AND (@undelivered OR lease_until > (SELECT now FROM clock))
