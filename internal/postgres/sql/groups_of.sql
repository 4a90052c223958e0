-- seqlease groups_of: the groups of a member, or all groups, by ascending id
SELECT id, group_name, institution, line1, line2, city, state, postal_code, country, contact_email
FROM submitting_group
WHERE @member::text = '' OR id IN (SELECT group_id FROM group_member WHERE user_name = @member)
ORDER BY id
