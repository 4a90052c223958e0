-- seqlease group: a group and its members in order of name
SELECT id, group_name, institution, line1, line2, city, state, postal_code, country, contact_email,
    ARRAY(SELECT user_name FROM group_member WHERE group_id = id ORDER BY user_name) AS members
FROM submitting_group WHERE id = @id::bigint
