-- seqlease backfill_end (V3): from here on the reconciler watches the version
DELETE FROM backfill WHERE organism_id = @organism_id AND pipeline_version = @pipeline_version
