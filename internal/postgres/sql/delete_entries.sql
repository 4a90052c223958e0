-- seqlease delete_entries (L10): the entries are locked and in no lease; the history of terms stays with the accession
WITH dropped AS (
    DELETE FROM result
    WHERE entry_id = ANY (@ids::bigint[])
        AND pipeline_version = ANY (ARRAY(SELECT version FROM pipeline_version WHERE organism_id = @organism::int))
),
tickets AS (
    DELETE FROM ticket
    WHERE organism_id = @organism AND entry_id = ANY (@ids)
        AND pipeline_version = ANY (ARRAY(SELECT version FROM pipeline_version WHERE organism_id = @organism))
)
DELETE FROM entry WHERE id = ANY (@ids)
