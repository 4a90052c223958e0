-- bench turns
INSERT INTO turn (organism_id, pipeline_version, lane, group_id, last_rank)
SELECT t.organism_id, 1, 0, e.group_id, max(t.rank) FROM ticket AS t JOIN entry AS e ON e.id = t.entry_id GROUP BY t.organism_id, e.group_id
