-- seqlease reconcile_tickets (L1, V4, L17): tickets for those of the entries that are still forgotten, in fair order of their groups
INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id)
SELECT f.organism_id, f.pipeline_version, 1,
       max(h.rank, coalesce(u.last_rank, 0)) + row_number() OVER (PARTITION BY f.pipeline_version, f.group_id ORDER BY f.entry_id),
       f.entry_id
FROM json_each(@entry_ids) AS n
CROSS JOIN forgotten AS f ON f.entry_id = n.value
JOIN lane_head AS h ON h.organism_id = f.organism_id AND h.pipeline_version = f.pipeline_version AND h.lane = 1
LEFT JOIN turn AS u ON u.organism_id = f.organism_id AND u.pipeline_version = f.pipeline_version AND u.lane = 1 AND u.group_id = f.group_id
RETURNING organism_id, pipeline_version, lane
