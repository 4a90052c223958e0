-- seqlease lock_group: a group, locked against other changes of it and of who its members are
SELECT id, group_name, institution, line1, line2, city, state, postal_code, country, contact_email
FROM submitting_group WHERE id = @id::bigint FOR NO KEY UPDATE
