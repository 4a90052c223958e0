-- seqlease claim_state (L4, L14, L16): is there work, and which is the mark, at one instant
SELECT o.id, o.current_pipeline_version, p.version IS NOT NULL, o.paused OR coalesce(p.paused, 0),
       coalesce((SELECT m.mark FROM change_mark AS m WHERE m.organism_id = o.id AND m.scope = @pipeline_version), ''),
       EXISTS (SELECT 1 FROM ticket AS t WHERE t.organism_id = o.id AND t.pipeline_version = @pipeline_version AND t.lane < 4),
       EXISTS (SELECT 1 FROM ticket_run AS u WHERE u.organism_id = o.id AND u.pipeline_version = @pipeline_version),
       EXISTS (SELECT 1 FROM lease AS l WHERE l.organism_id = o.id AND l.pipeline_version = @pipeline_version
               AND l.lease_until <= (SELECT now FROM clock)),
       (SELECT now FROM clock)
FROM organism AS o
LEFT JOIN pipeline_version AS p ON p.organism_id = o.id AND p.version = @pipeline_version
WHERE o.key = @organism
