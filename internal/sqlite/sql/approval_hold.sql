-- seqlease approval_hold: what the approval takes, [[first entry id, last],…]
INSERT INTO approval_run (first_entry_id, last_entry_id, approval_id)
SELECT r.value ->> 0, r.value ->> 1, @approval_id FROM json_each(@runs) AS r
