-- seqlease dictionary: one that is not yet known in memory
SELECT bytes FROM dictionary WHERE id = @id::bigint
