-- seqlease reconcile_tickets (L1, V4, L17): tickets for those of the entries that are still forgotten, in turns of their groups; bulk work for versions that aren't current
INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id)
SELECT f.organism_id, f.pipeline_version, h.lane,
       max(h.rank, coalesce(u.last_rank, 0)) + row_number() OVER (PARTITION BY f.organism_id, f.pipeline_version, e.group_id ORDER BY e.id), e.id
FROM json_each(@entry_ids) AS n
CROSS JOIN forgotten AS f ON f.entry_id = n.value
CROSS JOIN entry AS e ON e.id = f.entry_id
CROSS JOIN organism AS o ON o.id = f.organism_id
JOIN lane_head AS h
    ON h.organism_id = f.organism_id AND h.pipeline_version = f.pipeline_version AND h.lane = (f.pipeline_version <> o.current_pipeline_version)
LEFT JOIN turn AS u ON u.organism_id = h.organism_id AND u.pipeline_version = h.pipeline_version AND u.lane = h.lane AND u.group_id = e.group_id
WHERE NOT EXISTS (SELECT 1 FROM backfill AS b WHERE b.organism_id = f.organism_id AND b.pipeline_version = f.pipeline_version)
RETURNING organism_id, pipeline_version, lane
