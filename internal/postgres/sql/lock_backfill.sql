-- seqlease lock_backfill (V3): takes the lock of the next chunk unless somebody has it, and says how far the backfill is, and whether all have ended that may not have seen the version; due says that a pass ended long enough ago
SELECT EXISTS (SELECT FROM backfill WHERE organism_id = @organism::int AND pipeline_version = @version::bigint) AS unfinished,
    b.stage, coalesce(b.settled, false) AS settled, coalesce(b.settles, false) AS settles, coalesce(b.due, false) AS due,
    coalesce(b.after_id, 0) AS after_id, coalesce(b.after_accession, '') AS after_accession, coalesce(b.after_version, 0) AS after_version
FROM (SELECT) AS one
LEFT JOIN LATERAL (
    SELECT stage, settled, after_id, after_accession, after_version, passed_at < now() - @pause::int * interval '1 second' AS due,
        pg_snapshot_xmin(pg_current_snapshot()) >= CASE WHEN horizon <= pg_current_xact_id() THEN horizon ELSE pg_current_xact_id() END AS settles
    FROM backfill WHERE organism_id = @organism AND pipeline_version = @version
    FOR UPDATE SKIP LOCKED
) AS b ON true
