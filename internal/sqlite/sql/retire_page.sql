-- seqlease retire_page (V7): how many of the next results of a version there are, and the last
SELECT count(*), coalesce(max(entry_id), @after)
FROM (SELECT entry_id FROM result WHERE pipeline_version = @pipeline_version AND entry_id > @after ORDER BY entry_id LIMIT @limit)
