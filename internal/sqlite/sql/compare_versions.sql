-- seqlease compare_versions (V5, V8): how many entries have a present result under either version, and whether either holds any; one with a result of data that was edited since waits or is in processing
WITH version AS MATERIALIZED (
    SELECT 0 AS n, @current AS pipeline_version UNION ALL SELECT 1, @pipeline_version
),
counted AS MATERIALIZED (
    SELECT v.n,
           (SELECT count(*)
            FROM result AS r
            CROSS JOIN entry AS e ON e.id = r.entry_id AND e.organism_id = @organism_id
            WHERE r.pipeline_version = v.pipeline_version)
           - (SELECT count(*)
              FROM (SELECT t.entry_id FROM ticket AS t WHERE t.organism_id = @organism_id AND t.pipeline_version = v.pipeline_version
                    UNION ALL
                    SELECT d.entry_id
                    FROM lease AS l
                    CROSS JOIN leased AS d ON d.attempt_id = l.attempt_id
                    WHERE l.organism_id = @organism_id AND l.pipeline_version = v.pipeline_version) AS w
              CROSS JOIN result AS r ON r.pipeline_version = v.pipeline_version AND r.entry_id = w.entry_id
              CROSS JOIN entry AS e ON e.id = w.entry_id AND e.revision <> r.revision) AS results
    FROM version AS v
)
SELECT (SELECT c.results FROM counted AS c WHERE c.n = 0), (SELECT c.results FROM counted AS c WHERE c.n = 1),
       EXISTS (SELECT 1 FROM lease AS l WHERE l.organism_id = @organism_id AND l.pipeline_version = @pipeline_version),
       EXISTS (SELECT 1 FROM lease AS l WHERE l.organism_id = @organism_id AND l.pipeline_version = @current)
