-- seqlease remove_member
DELETE FROM group_member WHERE group_id = @group_id AND member = @member
