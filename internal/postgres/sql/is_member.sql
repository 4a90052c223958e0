-- seqlease is_member: whether a user is a member of a group; a statement of its own, so that it sees what the lock was waited for
SELECT EXISTS (SELECT FROM group_member WHERE group_id = @id::bigint AND user_name = @user::text)
