-- seqlease claim_run_untouched (L1, L2): does no entry of a part of a run have a ticket, a lease or a result
SELECT NOT EXISTS (SELECT 1 FROM ticket AS t
                   WHERE t.pipeline_version = @pipeline_version AND t.entry_id BETWEEN @first_entry_id AND @last_entry_id)
   AND NOT EXISTS (SELECT 1 FROM leased AS d
                   WHERE d.pipeline_version = @pipeline_version AND d.entry_id BETWEEN @first_entry_id AND @last_entry_id)
   AND NOT EXISTS (SELECT 1 FROM result AS r
                   WHERE r.pipeline_version = @pipeline_version AND r.entry_id BETWEEN @first_entry_id AND @last_entry_id)
