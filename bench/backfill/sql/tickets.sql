-- bench tickets: of the others
INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id)
SELECT organism_id, 1, 0, row_number() OVER (PARTITION BY group_id ORDER BY id), id FROM entry WHERE id % 10 = 9 ORDER BY id
