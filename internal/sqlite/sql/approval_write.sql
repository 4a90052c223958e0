-- seqlease approval_write (L11): the rows of a part of an approval that is decided
UPDATE entry
SET released_at = (SELECT a.released_at FROM approval AS a WHERE a.id = @approval_id),
    approver = (SELECT a.approver FROM approval AS a WHERE a.id = @approval_id)
WHERE id IN (SELECT e.id
             FROM approval_run AS n
             CROSS JOIN entry AS e ON e.id BETWEEN n.first_entry_id AND n.last_entry_id
             WHERE n.approval_id = @approval_id AND n.first_entry_id BETWEEN @first_entry_id AND @last_entry_id)
