-- seqlease current_versions (V1): the current pipeline version of every organism
SELECT o.key, o.current_pipeline_version FROM organism AS o
