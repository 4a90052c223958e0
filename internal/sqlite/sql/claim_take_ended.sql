-- seqlease claim_take_ended (L4): ended leases go over whole, the longest ended first, until there are enough entries
UPDATE leased
SET attempt_id = @attempt_id, attempts = attempts + 1, hand_outs = hand_outs + 1
WHERE attempt_id IN (
    SELECT c.attempt_id
    FROM (SELECT b.attempt_id, b.entries, sum(b.entries) OVER (ORDER BY b.lease_until, b.attempt_id) AS entries_so_far
          FROM (SELECT l.attempt_id, l.lease_until,
                       (SELECT count(*) FROM leased AS d WHERE d.attempt_id = l.attempt_id) AS entries
                FROM lease AS l
                WHERE l.organism_id = @organism_id AND l.pipeline_version = @pipeline_version AND l.lease_until <= @now
                ORDER BY l.lease_until
                LIMIT @entries) AS b) AS c
    WHERE c.entries_so_far - c.entries < @entries)
