-- seqlease pipeline_statistics (V8): how many results each organism and pipeline version has; neither the index of results nor entry holds documents
SELECT o.key, n.pipeline_version, n.results
FROM (SELECT r.pipeline_version, e.organism_id, count(*) AS results
      FROM result AS r
      CROSS JOIN published_entry AS e ON e.id = r.entry_id
      GROUP BY r.pipeline_version, e.organism_id) AS n
JOIN organism AS o ON o.id = n.organism_id
ORDER BY o.key, n.pipeline_version
