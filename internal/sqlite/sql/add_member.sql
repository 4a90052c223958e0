-- seqlease add_member
INSERT INTO group_member (group_id, member) VALUES (@group_id, @member)
ON CONFLICT (group_id, member) DO NOTHING
