-- seqlease forget_turns (V7)
DELETE FROM turn
WHERE organism_id = @organism_id AND pipeline_version = @pipeline_version
