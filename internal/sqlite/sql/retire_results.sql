-- seqlease retire_results (V7): those of the organism among the results of a page
DELETE FROM result
WHERE pipeline_version = @pipeline_version AND entry_id > @after AND entry_id <= @last
  AND (SELECT e.organism_id FROM entry AS e WHERE e.id = entry_id) = @organism_id
