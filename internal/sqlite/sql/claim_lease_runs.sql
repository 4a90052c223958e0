-- seqlease claim_lease_runs (L11): may the claim add to its lease, which a deletion of all its entries would have ended
SELECT EXISTS (SELECT 1 FROM lease WHERE attempt_id = @attempt_id AND lease_until > @now)
