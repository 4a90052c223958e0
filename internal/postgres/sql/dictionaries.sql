-- seqlease dictionaries: those that are not yet known in memory
SELECT id, bytes FROM dictionary WHERE organism_id = @organism::int AND id <> ALL (@known::bigint[])
