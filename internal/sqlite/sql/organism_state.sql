-- seqlease organism_state (L11): the organism, its current pipeline version, and the instant
SELECT o.id, o.current_pipeline_version, (SELECT now FROM clock) FROM organism AS o WHERE o.key = @organism
