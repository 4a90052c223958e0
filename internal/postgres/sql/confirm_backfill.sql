-- seqlease confirm_backfill (V3, L2, L14, L17): a fresh snapshot takes the tickets back of entries that came into a lease or were processed since they were found, which from the tickets on none can; notes the turns and counts the change
WITH named AS MATERIALIZED (
    SELECT unnest(@ids::bigint[]) AS id
),
held AS MATERIALIZED (
    SELECT u.entry_id FROM lease AS l CROSS JOIN LATERAL unnest(l.entry_ids) AS u (entry_id)
    WHERE l.organism_id = @organism::int AND l.pipeline_version = @version::bigint AND u.entry_id BETWEEN @first_id::bigint AND @last_id::bigint
),
-- Read at once if there are few.
processed AS MATERIALIZED (
    SELECT entry_id FROM result WHERE pipeline_version = @version AND entry_id BETWEEN @first_id AND @last_id LIMIT cardinality(@ids)
),
gone AS MATERIALIZED (
    SELECT k.id FROM named AS k WHERE k.id IN (SELECT entry_id FROM held OFFSET 0)
        OR CASE WHEN (SELECT count(*) FROM processed) < cardinality(@ids) THEN k.id IN (SELECT entry_id FROM processed OFFSET 0) ELSE true END
            AND EXISTS (
                SELECT FROM (SELECT revision FROM result WHERE pipeline_version = @version AND entry_id = k.id OFFSET 0) AS r
                CROSS JOIN LATERAL (SELECT FROM entry WHERE id = k.id AND revision = r.revision OFFSET 0) AS e OFFSET 0)
),
taken_back AS MATERIALIZED (
    DELETE FROM ticket WHERE ctid = ANY (ARRAY(
        SELECT t.ctid FROM gone
        CROSS JOIN LATERAL (SELECT ctid FROM ticket WHERE pipeline_version = @version AND entry_id = gone.id OFFSET 0) AS t))
    RETURNING entry_id
),
turns AS (
    INSERT INTO turn AS t (organism_id, pipeline_version, lane, group_id, last_rank)
    SELECT @organism, @version, 1, group_id, last_rank FROM unnest(@groups::bigint[], @last_ranks::bigint[]) AS g (group_id, last_rank) ORDER BY group_id
    ON CONFLICT (organism_id, pipeline_version, lane, group_id) DO UPDATE SET last_rank = greatest(excluded.last_rank, t.last_rank)
),
bump AS (
    UPDATE change SET n = n + 1, nonce = (random() * 9e18)::bigint
    WHERE organism_id = @organism AND scope = @version AND bucket = pg_backend_pid() % 16
)
SELECT count(*) FROM taken_back
