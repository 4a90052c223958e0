-- seqlease claim_cut_surplus (L4): see claim_put_back_surplus
DELETE FROM leased
WHERE attempt_id = @attempt_id
  AND EXISTS (SELECT 1 FROM ticket AS t WHERE t.organism_id = @organism_id
              AND t.pipeline_version = leased.pipeline_version AND t.entry_id = leased.entry_id)
