-- seqlease forget_version (V7): it isn't registered any more; its change counter stays, so that its mark goes on rising
DELETE FROM pipeline_version
WHERE organism_id = @organism_id AND version = @pipeline_version
