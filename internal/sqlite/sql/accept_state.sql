-- seqlease accept_state (L11): the organism, its current pipeline version, whether any of its entries is in quarantine, and the instant
SELECT o.id, o.current_pipeline_version, EXISTS (SELECT 1 FROM quarantine AS q WHERE q.organism_id = o.id), (SELECT now FROM clock)
FROM organism AS o
WHERE o.key = @organism
