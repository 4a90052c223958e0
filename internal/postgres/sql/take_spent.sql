-- seqlease take_spent (L9): removes spent tickets of locked entries that are as they were read
DELETE FROM ticket WHERE ctid = ANY (ARRAY(
    SELECT t.ctid
    FROM unnest(@ids::bigint[], @versions::bigint[], @attempts::int[], @hand_outs::int[]) AS k (id, version, attempts, hand_outs)
    CROSS JOIN LATERAL (
        SELECT ctid FROM ticket
        WHERE pipeline_version = k.version AND entry_id = k.id AND organism_id IS NOT DISTINCT FROM @organism::int -- no index but that of the entry
            AND lane IS NOT DISTINCT FROM 4 AND attempts = k.attempts AND hand_outs = k.hand_outs OFFSET 0 FOR UPDATE
    ) AS t))
RETURNING pipeline_version, entry_id
