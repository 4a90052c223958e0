-- seqlease deletion_withdraw (L10): notes the tickets of a part, if there are any, before deletion_cut_tickets
INSERT INTO withdrawn_ticket (first_entry_id, upload_id, tickets)
SELECT min(t.entry_id), @upload_id,
       json_group_array(json_array(t.organism_id, t.pipeline_version, t.lane, t.rank, t.entry_id, t.attempts, t.hand_outs))
FROM pipeline_version AS p
CROSS JOIN upload_run AS n
CROSS JOIN ticket AS t ON t.pipeline_version = p.version AND t.entry_id BETWEEN n.first_entry_id AND n.last_entry_id
WHERE p.organism_id = @organism_id AND n.upload_id = @upload_id AND n.first_entry_id BETWEEN @first_entry_id AND @last_entry_id
HAVING count(*) > 0
