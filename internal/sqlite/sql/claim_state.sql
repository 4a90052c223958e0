-- seqlease claim_state (L4, L14): is there work, and which is the mark, at one instant
SELECT o.id, o.current_pipeline_version,
       EXISTS (SELECT 1 FROM pipeline_version AS p WHERE p.organism_id = o.id AND p.version = @pipeline_version),
       coalesce((SELECT m.mark FROM change_mark AS m WHERE m.organism_id = o.id AND m.scope = @pipeline_version), ''),
       EXISTS (SELECT 1 FROM published_run AS u
               CROSS JOIN ticket AS t ON t.entry_id > u.after_id AND t.entry_id < u.before_id
               WHERE t.organism_id = o.id AND t.pipeline_version = @pipeline_version),
       EXISTS (SELECT 1 FROM lease AS l WHERE l.organism_id = o.id AND l.pipeline_version = @pipeline_version
               AND l.lease_until <= (SELECT now FROM clock)),
       (SELECT now FROM clock)
FROM organism AS o
WHERE o.key = @organism
