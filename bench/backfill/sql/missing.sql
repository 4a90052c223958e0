-- bench missing: entries that have no place, and places too many, under version 2
WITH place AS MATERIALIZED (
    SELECT entry_id FROM ticket WHERE pipeline_version = 2
    UNION ALL SELECT unnest(entry_ids) FROM lease WHERE pipeline_version = 2
    UNION ALL SELECT r.entry_id FROM result AS r JOIN entry AS e ON e.id = r.entry_id AND e.revision = r.revision WHERE r.pipeline_version = 2
)
SELECT (SELECT count(*) FROM entry) - count(DISTINCT entry_id), count(*) - count(DISTINCT entry_id) FROM place
