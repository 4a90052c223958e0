-- seqlease insert_backfill (V3): tickets of bulk work; whoever added one of them since they were found makes it fail
INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id)
SELECT @organism::int, @version::bigint, 1, rank, id FROM unnest(@ids::bigint[], @ranks::bigint[]) AS t (id, rank)
