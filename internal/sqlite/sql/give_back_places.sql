-- seqlease give_back_places (L8): the first entries that the lease holds
SELECT pipeline_version, entry_id, lower(hex(attempt_id))
FROM leased
WHERE attempt_id = @attempt_id
ORDER BY position
LIMIT @entries
