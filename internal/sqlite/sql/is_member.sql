-- seqlease is_member
SELECT EXISTS (SELECT 1 FROM group_member WHERE group_id = @group_id AND member = @member)
