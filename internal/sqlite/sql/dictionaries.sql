-- seqlease dictionaries: the present ones and those that rows still refer to
SELECT id, bytes FROM dictionary
