-- seqlease note_operator (L16): the audit log's row of an operator's call, written by the first transaction that changes something
INSERT INTO audit (at, user_name, action, organism_id, entries, detail)
SELECT c.now, @user, @action, @organism_id, @entries, @detail
FROM clock AS c
RETURNING number
