-- seqlease may_switch (V5): whether no deletion is about to take entries, whose tickets aren't there meanwhile, the candidate still is one, and none of the entries that wait for it, are held by it or have errors under it has a present result without errors under the current version alone, unless its accession is revoked
SELECT EXISTS (SELECT 1
               FROM organism AS o
               CROSS JOIN pipeline_version AS p ON p.organism_id = o.id AND p.version = @pipeline_version
               WHERE o.id = @organism_id AND o.current_pipeline_version = @current AND p.version > @current AND NOT p.paused
                 AND NOT EXISTS (SELECT 1 FROM backfill AS b WHERE b.organism_id = o.id AND b.pipeline_version = p.version))
   AND NOT EXISTS (SELECT 1 FROM upload AS u WHERE u.organism_id = @organism_id AND NOT u.hides)
   AND NOT EXISTS (
           SELECT 1
           FROM (SELECT t.entry_id FROM ticket AS t WHERE t.organism_id = @organism_id AND t.pipeline_version = @pipeline_version
                 UNION ALL
                 SELECT d.entry_id
                 FROM lease AS l
                 CROSS JOIN leased AS d ON d.attempt_id = l.attempt_id
                 WHERE l.organism_id = @organism_id AND l.pipeline_version = @pipeline_version
                 UNION ALL
                 SELECT x.entry_id
                 FROM result AS x INDEXED BY result_with_errors
                 WHERE x.pipeline_version = @pipeline_version AND x.outcome = 'HAS_ERRORS'
                 UNION ALL
                 SELECT r.entry_id
                 FROM ticket_run AS u
                 CROSS JOIN result AS r
                     ON r.pipeline_version = @current AND r.entry_id BETWEEN u.first_entry_id AND u.last_entry_id
                 WHERE u.organism_id = @organism_id AND u.pipeline_version = @pipeline_version) AS w
           CROSS JOIN entry AS e ON e.id = w.entry_id AND e.organism_id = @organism_id
           CROSS JOIN result AS c
               ON c.pipeline_version = @current AND c.entry_id = w.entry_id AND c.revision = e.revision AND c.outcome <> 'HAS_ERRORS'
           -- One that is processed again has its result still (V9).
           WHERE NOT EXISTS (SELECT 1 FROM result AS n
                             WHERE n.pipeline_version = @pipeline_version AND n.entry_id = w.entry_id AND n.revision = e.revision
                               AND n.outcome <> 'HAS_ERRORS')
             AND NOT EXISTS (SELECT 1 FROM revoked AS v WHERE v.entry_id = w.entry_id))
