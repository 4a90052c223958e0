-- seqlease empty_pipeline_version (V1): counters of their queues stay, so that marks go on rising
DELETE FROM pipeline_version WHERE version > 1
