-- seqlease deletion_note (L10): a row of the audit log for each entry of a part, with the instant at which it was deleted
INSERT INTO audit (at, user_name, action, organism_id, accession, version, entries, detail)
SELECT u.started_at, u.deleted_by, @action, u.organism_id, e.accession, e.version, 1, ''
FROM upload AS u
CROSS JOIN upload_run AS n ON n.upload_id = u.id
CROSS JOIN entry AS e ON e.id BETWEEN n.first_entry_id AND n.last_entry_id
WHERE u.id = @upload_id AND n.first_entry_id BETWEEN @first_entry_id AND @last_entry_id
ORDER BY e.accession, e.version
