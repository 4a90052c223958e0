-- seqlease delete_tickets (L10): waits for claims that are taking one of them; version 0 means every one
DELETE FROM ticket WHERE ctid = ANY (ARRAY(
    SELECT t.ctid
    FROM (
        SELECT pv.version, k.id FROM pipeline_version AS pv CROSS JOIN unnest(@ids::bigint[]) AS k (id)
        WHERE pv.organism_id = @organism::int AND @version::bigint IN (0, pv.version) ORDER BY pv.version, k.id OFFSET 0
    ) AS k
    CROSS JOIN LATERAL (
        SELECT ctid FROM ticket WHERE pipeline_version = k.version AND entry_id = k.id OFFSET 0 FOR UPDATE
    ) AS t))
RETURNING entry_id, pipeline_version, attempts, hand_outs
