-- seqlease claim_nth_rank (L17): how far the tickets reach that are written out, if they are so many
SELECT rank FROM ticket
WHERE organism_id = @organism_id AND pipeline_version = @pipeline_version AND lane = 0
ORDER BY rank, entry_id
LIMIT 1 OFFSET @entries - 1
