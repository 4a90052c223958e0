-- seqlease backfill_place (V3): how far the backfill of a version is
SELECT o.id, b.after_accession, b.after_version
FROM organism AS o
LEFT JOIN backfill AS b ON b.organism_id = o.id AND b.pipeline_version = @pipeline_version
WHERE o.key = @organism
