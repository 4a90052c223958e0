-- seqlease first_rank (L17): the head of a queue; 0 for that of an outdated version, as nobody claims from it
SELECT coalesce((SELECT rank FROM lane_head
                 WHERE organism_id = @organism_id AND pipeline_version = @pipeline_version AND lane = 0), 0)
