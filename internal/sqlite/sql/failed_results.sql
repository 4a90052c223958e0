-- seqlease failed_results (V9): present results with errors
SELECT e.id, e.accession, e.version, r.dictionary_id, r.body
FROM result AS r INDEXED BY result_with_errors
CROSS JOIN published_entry AS e ON e.id = r.entry_id AND e.revision = r.revision AND e.organism_id = @organism_id
WHERE r.pipeline_version = @pipeline_version AND r.entry_id > @after AND r.outcome = 'HAS_ERRORS'
ORDER BY r.entry_id
LIMIT @limit
