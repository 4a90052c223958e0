-- seqlease edit_note_attempts (L10): whose results the edit makes stale
INSERT INTO edited (entry_id, attempt_id)
SELECT r.entry_id, r.attempt_id FROM result AS r
WHERE r.entry_id = @entry_id AND r.pipeline_version IN (SELECT p.version FROM pipeline_version AS p WHERE p.organism_id = @organism_id)
UNION
SELECT d.entry_id, d.attempt_id FROM leased AS d
WHERE d.entry_id = @entry_id AND d.pipeline_version IN (SELECT p.version FROM pipeline_version AS p WHERE p.organism_id = @organism_id)
ON CONFLICT (entry_id, attempt_id) DO NOTHING
