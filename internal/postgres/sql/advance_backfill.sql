-- seqlease advance_backfill (V3): how far the backfill is; a database that was restored elsewhere counts its transactions anew
UPDATE backfill SET stage = @stage::smallint, settled = @settled::boolean, after_id = @after_id::bigint,
    after_accession = @after_accession::text, after_version = @after_version::bigint,
    horizon = CASE WHEN horizon <= pg_current_xact_id() THEN horizon ELSE pg_current_xact_id() END,
    passed_at = CASE WHEN @stage < 2 THEN NULL ELSE now() END
WHERE organism_id = @organism::int AND pipeline_version = @version::bigint
