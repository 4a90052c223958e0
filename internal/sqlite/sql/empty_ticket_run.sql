-- seqlease empty_ticket_run (L10)
DELETE FROM ticket_run
