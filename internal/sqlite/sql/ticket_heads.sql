-- seqlease ticket_heads (L17): the ranks of the first tickets that are written out
SELECT rank FROM ticket
WHERE organism_id = @organism_id AND pipeline_version = @pipeline_version AND lane = 0
ORDER BY rank
LIMIT @heads
