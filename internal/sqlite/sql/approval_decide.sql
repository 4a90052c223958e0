-- seqlease approval_decide (L11): from here on the entries are released for everybody, and the approval can't fail any more
UPDATE approval SET released_at = @now WHERE id = @approval_id AND released_at IS NULL
