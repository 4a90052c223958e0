-- seqlease submit_entries (L1): one part of an upload, which nobody sees yet
INSERT INTO entry (id, accession, version, organism_id, group_id, submission_id, submitter, submitted_at)
SELECT @first_entry_id + key, value ->> 0, 1, @organism_id, @group_id, value ->> 1, @submitter, @started_at
FROM json_each(@entries)
