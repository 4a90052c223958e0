-- seqlease group_members
SELECT member FROM group_member WHERE group_id = @group_id ORDER BY member
