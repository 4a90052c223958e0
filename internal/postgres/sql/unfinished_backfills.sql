-- seqlease unfinished_backfills (V3): the versions whose backfill isn't complete
SELECT o.key, b.pipeline_version FROM backfill AS b JOIN organism AS o ON o.id = b.organism_id AND b.pipeline_version >= o.current_version ORDER BY o.key, b.pipeline_version
