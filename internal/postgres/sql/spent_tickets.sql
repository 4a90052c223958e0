-- seqlease spent_tickets (L9): tickets of live versions whose attempts or hand-outs are used up, in order of the lanes
SELECT o.key, t.pipeline_version, e.accession, e.version, t.entry_id, e.revision, t.attempts, t.hand_outs
FROM organism AS o
JOIN pipeline_version AS pv ON pv.organism_id = o.id AND pv.version >= o.current_version
CROSS JOIN LATERAL (
    SELECT pipeline_version, entry_id, attempts, hand_outs FROM ticket
    WHERE organism_id = o.id AND pipeline_version = pv.version AND lane = 4 ORDER BY rank, entry_id LIMIT @limit::int
) AS t
CROSS JOIN LATERAL (SELECT accession, version, revision FROM entry WHERE id = t.entry_id OFFSET 0) AS e
LIMIT @limit
