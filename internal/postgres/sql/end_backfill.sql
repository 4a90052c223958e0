-- seqlease end_backfill (V3): from here on the reconciler watches the version
DELETE FROM backfill WHERE organism_id = @organism::int AND pipeline_version = @version::bigint
