-- seqlease backfill_move (V3): the next chunk begins behind this entry, unless somebody else made this one
UPDATE backfill SET after_accession = @last_accession, after_version = @last_version
WHERE organism_id = @organism_id AND pipeline_version = @pipeline_version
  AND after_accession = @after_accession AND after_version = @after_version
