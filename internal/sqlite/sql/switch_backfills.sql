-- seqlease switch_backfills (V3): those of the versions below end
DELETE FROM backfill
WHERE organism_id = @organism_id AND pipeline_version < @pipeline_version
