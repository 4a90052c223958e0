-- seqlease approval_end: it has nothing left
DELETE FROM approval WHERE id = @approval_id
