-- seqlease backfill_tickets (V3, V4, L17): tickets of bulk work for those of the entries that the version has forgotten, in turns of their groups
WITH h AS MATERIALIZED (SELECT rank FROM lane_head
                       WHERE organism_id = @organism_id AND pipeline_version = @pipeline_version AND lane = 1)
INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id)
SELECT f.organism_id, f.pipeline_version, 1,
       max(h.rank, coalesce(u.last_rank, 0)) + row_number() OVER (PARTITION BY e.group_id ORDER BY e.id), e.id
FROM json_each(@entry_ids) AS n
CROSS JOIN forgotten AS f ON f.entry_id = n.value AND f.pipeline_version = @pipeline_version
CROSS JOIN entry AS e ON e.id = f.entry_id
CROSS JOIN h
LEFT JOIN turn AS u ON u.organism_id = f.organism_id AND u.pipeline_version = f.pipeline_version AND u.lane = 1 AND u.group_id = e.group_id
