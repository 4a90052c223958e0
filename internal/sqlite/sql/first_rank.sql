-- seqlease first_rank (L17): the head of a queue
SELECT rank FROM lane_head WHERE organism_id = @organism_id AND pipeline_version = @pipeline_version AND lane = 0
