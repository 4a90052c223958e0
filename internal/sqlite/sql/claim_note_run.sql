-- seqlease claim_note_run (L16): claim_note for a slice that is one run of entry ids, each of them in its first attempt
INSERT INTO claim_record (attempt_id, organism_id, pipeline_version, claimed_at, lease_seconds, claimed_by, worker_id, entries,
                          first_entry_id, last_entry_id, entry_ids, attempts)
SELECT l.attempt_id, l.organism_id, l.pipeline_version, l.claimed_at, l.lease_seconds, l.claimed_by, l.worker_id, @entries,
       @first_entry_id, @first_entry_id + @entries - 1, @entry_ids, @attempts
FROM lease AS l
WHERE l.attempt_id = @attempt_id
