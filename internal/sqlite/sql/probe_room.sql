-- seqlease probe_room: writes a page and changes nothing
UPDATE organism SET key = key
WHERE id = (SELECT min(id) FROM organism)
