-- seqlease empty_turn (L10)
DELETE FROM turn
