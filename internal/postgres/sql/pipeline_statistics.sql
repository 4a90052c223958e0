-- seqlease pipeline_statistics (V8): how many results each organism and pipeline version has, from an index that holds no documents
SELECT o.key, r.pipeline_version, r.results
FROM (SELECT organism_id, pipeline_version, count(*) AS results FROM result GROUP BY organism_id, pipeline_version) AS r
JOIN organism AS o ON o.id = r.organism_id
ORDER BY o.key, r.pipeline_version
