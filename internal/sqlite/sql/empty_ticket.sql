-- seqlease empty_ticket (L10)
DELETE FROM ticket
