-- seqlease groups_of: the groups of a member by ascending id, all of them or so many
SELECT g.id, g.group_name, g.institution, g.line1, g.line2, g.city, g.state, g.postal_code, g.country, g.contact_email
FROM group_member AS m
JOIN submitting_group AS g ON g.id = m.group_id
WHERE m.user_name = @member::text AND m.group_id > @after::bigint
ORDER BY m.group_id LIMIT nullif(@count::bigint, 0)
