-- seqlease claim_cut_tickets (L2): a leased entry has no ticket
DELETE FROM ticket
WHERE pipeline_version = @pipeline_version
  AND entry_id IN (SELECT d.entry_id FROM leased AS d WHERE d.attempt_id = @attempt_id AND d.position >= @taken)
