-- seqlease add_member: makes a user a member of a group that is locked
INSERT INTO group_member (group_id, user_name) VALUES (@id::bigint, @user::text) ON CONFLICT DO NOTHING
