-- seqlease groups_of_member
SELECT g.id, g.group_name, g.institution, g.line1, g.line2, g.city, g.state, g.postal_code, g.country, g.contact_email
FROM group_member AS m
JOIN submitting_group AS g ON g.id = m.group_id
WHERE m.member = @member AND m.group_id > @after
ORDER BY m.group_id
LIMIT @limit
