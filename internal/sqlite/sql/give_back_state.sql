-- seqlease give_back_state (L8): the lease, if it runs or was undelivered, and whoever gives it back may do so
SELECT l.organism_id, l.pipeline_version, (SELECT now FROM clock)
FROM lease AS l
WHERE l.attempt_id = @attempt_id
  AND (@undelivered OR l.lease_until > (SELECT now FROM clock))
  AND (@of_server OR l.claimed_by = @claimed_by)
  AND (@organism IS NULL OR l.organism_id = (SELECT o.id FROM organism AS o WHERE o.key = @organism))
