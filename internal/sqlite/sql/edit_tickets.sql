-- seqlease edit_tickets (L10): waiting anew for each live pipeline version; revocations never wait
INSERT INTO ticket (organism_id, pipeline_version, entry_id)
SELECT p.organism_id, p.version, e.id
FROM entry AS e
JOIN pipeline_version AS p ON p.organism_id = e.organism_id
WHERE e.id = @entry_id AND NOT e.is_revocation
ON CONFLICT (organism_id, pipeline_version, entry_id) DO UPDATE SET attempts = 0, hand_outs = 0
