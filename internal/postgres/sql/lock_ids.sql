-- seqlease lock_ids (L10): locks the entries of the organism in order of id; those that don't exist, or not at that revision, are not returned
SELECT e.id
FROM (SELECT id, revision FROM unnest(@ids::bigint[], @revisions::int[]) AS k (id, revision) ORDER BY id OFFSET 0) AS k
CROSS JOIN LATERAL (SELECT id FROM entry WHERE id = k.id AND revision = k.revision OFFSET 0 FOR UPDATE) AS e
