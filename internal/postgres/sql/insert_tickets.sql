-- seqlease insert_tickets (L1, L17): tickets of an upload's next entries, in the ranks after those before them, for the versions that it has ranks for
INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id)
SELECT @organism::int, r.version, 0, r.before + k.n, k.id
FROM unnest(@versions::bigint[], @ranks::bigint[]) AS r (version, before)
CROSS JOIN unnest(@ids::bigint[]) WITH ORDINALITY AS k (id, n)
ORDER BY r.version, k.id
