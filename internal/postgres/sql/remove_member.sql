-- seqlease remove_member: ends a membership of a group that is locked
DELETE FROM group_member WHERE group_id = @id::bigint AND user_name = @user::text
