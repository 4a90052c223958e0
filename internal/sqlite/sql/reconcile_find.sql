-- seqlease reconcile_find (L1, V4): entries that a live version whose backfill is complete has forgotten
SELECT DISTINCT f.entry_id
FROM forgotten AS f
WHERE f.entry_id > @after AND f.entry_id <= @last
  AND NOT EXISTS (SELECT 1 FROM backfill AS b WHERE b.organism_id = f.organism_id AND b.pipeline_version = f.pipeline_version)
