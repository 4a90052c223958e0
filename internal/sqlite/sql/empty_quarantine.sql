-- seqlease empty_quarantine (L10)
DELETE FROM quarantine
