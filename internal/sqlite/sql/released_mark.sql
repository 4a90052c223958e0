-- seqlease released_mark (L13)
SELECT m.mark FROM organism AS o JOIN change_mark AS m ON m.organism_id = o.id AND m.scope = 0 WHERE o.key = @organism
