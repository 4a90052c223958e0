-- seqlease groups
SELECT id, group_name, institution, line1, line2, city, state, postal_code, country, contact_email
FROM submitting_group
WHERE id > @after
ORDER BY id
LIMIT @limit
