-- seqlease current_versions (V1): the current pipeline version of every organism
SELECT key, current_version FROM organism ORDER BY key
