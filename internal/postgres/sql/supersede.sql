-- seqlease supersede (L10): results of these attempts are answered "edited"; the entries are locked
UPDATE entry SET superseded_attempts = superseded_attempts || @attempts::uuid[] WHERE id = ANY (@ids::bigint[])
