-- seqlease lease_holds (L3): does the lease hold just so many entries
SELECT @entries = (SELECT count(*) FROM (SELECT 1 FROM leased WHERE attempt_id = @attempt_id LIMIT @entries + 1))
