-- seqlease claim_put_back_surplus (L4): what ended leases held beyond the claim waits; its ended attempt counts
INSERT INTO ticket (organism_id, pipeline_version, entry_id, attempts, hand_outs)
SELECT @organism_id, d.pipeline_version, d.entry_id, d.attempts - 1, d.hand_outs - 1
FROM leased AS d
WHERE d.attempt_id = @attempt_id
ORDER BY d.entry_id
LIMIT -1 OFFSET @entries
