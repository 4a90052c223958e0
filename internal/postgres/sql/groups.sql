-- seqlease groups: groups by ascending id, all of them or so many
SELECT id, group_name, institution, line1, line2, city, state, postal_code, country, contact_email
FROM submitting_group
WHERE id > @after::bigint
ORDER BY id LIMIT nullif(@count::bigint, 0)
