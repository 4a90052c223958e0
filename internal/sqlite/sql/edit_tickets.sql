-- seqlease edit_tickets (L10, L17): waiting anew for each live pipeline version, in the next turn of its group; revocations never wait, nor does what a deletion is about to take
INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id)
SELECT h.organism_id, h.pipeline_version, 0, max(h.rank, coalesce(u.last_rank, 0)) + 1, e.id
FROM free_entry AS e
JOIN lane_head AS h ON h.organism_id = e.organism_id AND h.lane = 0
LEFT JOIN turn AS u ON u.organism_id = h.organism_id AND u.pipeline_version = h.pipeline_version AND u.lane = 0 AND u.group_id = e.group_id
WHERE e.id = @entry_id AND NOT e.is_revocation
ON CONFLICT (pipeline_version, entry_id) DO UPDATE SET lane = 0, rank = excluded.rank, attempts = 0, hand_outs = 0
