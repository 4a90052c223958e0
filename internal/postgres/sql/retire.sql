-- seqlease retire (V7): deletes some rows of a version below the current one; leases and tickets that somebody has locked stay for the next time
WITH outdated AS MATERIALIZED (
    SELECT id FROM organism WHERE id = @organism::int AND current_version > @version::bigint FOR SHARE
),
page AS MATERIALIZED (
    SELECT r.entry_id, r.organism_id FROM outdated
    CROSS JOIN LATERAL (
        SELECT entry_id, organism_id FROM result WHERE pipeline_version = @version AND entry_id > @after::bigint ORDER BY entry_id LIMIT @limit::int
    ) AS r
),
results AS (
    DELETE FROM result WHERE ctid = ANY (ARRAY(
        SELECT r.ctid FROM page AS p
        CROSS JOIN LATERAL (SELECT ctid FROM result WHERE pipeline_version = @version AND entry_id = p.entry_id OFFSET 0) AS r
        WHERE p.organism_id = @organism))
),
leases AS (
    DELETE FROM lease WHERE ctid = ANY (ARRAY(
        SELECT l.ctid FROM outdated
        CROSS JOIN LATERAL (
            SELECT ctid FROM lease WHERE organism_id = @organism AND pipeline_version = @version LIMIT @limit FOR UPDATE SKIP LOCKED
        ) AS l))
    RETURNING attempt_id
),
tickets AS (
    DELETE FROM ticket WHERE ctid = ANY (ARRAY(
        SELECT t.ctid FROM outdated
        CROSS JOIN LATERAL (
            SELECT ctid FROM ticket WHERE organism_id = @organism AND pipeline_version = @version LIMIT @limit FOR UPDATE SKIP LOCKED
        ) AS t))
    RETURNING entry_id
),
quarantined AS (
    DELETE FROM quarantine WHERE ctid = ANY (ARRAY(
        SELECT q.ctid FROM outdated
        CROSS JOIN LATERAL (
            SELECT ctid FROM quarantine WHERE pipeline_version = @version AND organism_id = @organism LIMIT @limit FOR UPDATE SKIP LOCKED
        ) AS q))
    RETURNING entry_id
)
SELECT (SELECT count(*) FROM page) AS looked, coalesce((SELECT max(entry_id) FROM page), @after) AS last_id,
    (SELECT count(*) FROM leases) + (SELECT count(*) FROM tickets) + (SELECT count(*) FROM quarantined) AS others
