-- seqlease claim_note (L16): one row for each slice of a claim, for the history of its entries
INSERT INTO claim_record (attempt_id, organism_id, pipeline_version, claimed_at, lease_seconds, claimed_by, worker_id, entries,
                          first_entry_id, last_entry_id, entry_ids, attempts)
SELECT l.attempt_id, l.organism_id, l.pipeline_version, l.claimed_at, l.lease_seconds, l.claimed_by, l.worker_id, count(*),
       min(n.entry_id), max(n.entry_id), json_group_array(n.entry_id), json_group_array(n.attempts)
FROM lease AS l
CROSS JOIN (SELECT entry_id, attempts FROM leased
            WHERE attempt_id = @attempt_id AND position >= @taken
            ORDER BY position) AS n
WHERE l.attempt_id = @attempt_id
GROUP BY l.attempt_id
