-- seqlease note_action: a row of the audit log for each named entry, or one for the call as a whole
INSERT INTO audit (at, user_name, action, organism_id, group_id, accession, version, entries, detail)
SELECT c.now, @user, @action, nullif(@organism_id, 0), nullif(@group_id, 0), n.value ->> 0, n.value ->> 1, @entries, @detail
FROM json_each(@named) AS n
CROSS JOIN clock AS c
ORDER BY n.key
