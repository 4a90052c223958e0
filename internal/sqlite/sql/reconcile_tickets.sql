-- seqlease reconcile_tickets (L1, V4): tickets for those of the entries that are still forgotten, as the next; bulk work for versions that aren't current
INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id)
SELECT f.organism_id, f.pipeline_version, h.lane, h.rank, f.entry_id
FROM json_each(@entry_ids) AS n
CROSS JOIN forgotten AS f ON f.entry_id = n.value
CROSS JOIN organism AS o ON o.id = f.organism_id
JOIN lane_head AS h
    ON h.organism_id = f.organism_id AND h.pipeline_version = f.pipeline_version AND h.lane = (f.pipeline_version <> o.current_pipeline_version)
RETURNING organism_id, pipeline_version, lane
