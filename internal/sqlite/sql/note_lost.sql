-- seqlease note_lost (L7): the places were cut from their leases by somebody else than their workers
INSERT INTO lost (attempt_id, accession, version)
SELECT unhex(p.value ->> 2), e.accession, e.version
FROM json_each(@places) AS p
CROSS JOIN entry AS e ON e.id = p.value ->> 1
WHERE true
ON CONFLICT DO NOTHING
