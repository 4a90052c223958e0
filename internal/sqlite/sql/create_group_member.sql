-- seqlease create_group_member
INSERT INTO group_member (group_id, member) VALUES (@group_id, @member)
