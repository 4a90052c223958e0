-- seqlease delete_tickets (L10): waits for claims that are taking one of them
DELETE FROM ticket WHERE ctid = ANY (ARRAY(
    SELECT t.ctid
    FROM (
        SELECT pv.version, k.id FROM pipeline_version AS pv CROSS JOIN unnest(@ids::bigint[]) AS k (id)
        WHERE pv.organism_id = @organism::int ORDER BY pv.version, k.id OFFSET 0
    ) AS k
    CROSS JOIN LATERAL (
        SELECT ctid FROM ticket WHERE organism_id = @organism AND pipeline_version = k.version AND entry_id = k.id OFFSET 0 FOR UPDATE
    ) AS t))
