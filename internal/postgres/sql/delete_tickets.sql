-- seqlease delete_tickets (L10): waits for claims that are taking one of them
WITH waiting AS MATERIALIZED (
    SELECT pipeline_version, entry_id FROM ticket
    WHERE organism_id = @organism::int AND entry_id = ANY (@ids::bigint[])
        AND pipeline_version = ANY (ARRAY(SELECT version FROM pipeline_version WHERE organism_id = @organism))
    ORDER BY pipeline_version, entry_id FOR UPDATE
)
DELETE FROM ticket AS t
USING waiting AS w
WHERE t.organism_id = @organism AND t.pipeline_version = w.pipeline_version AND t.entry_id = w.entry_id
