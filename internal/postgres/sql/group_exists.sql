-- seqlease group_exists: whether a group exists
SELECT EXISTS (SELECT FROM submitting_group WHERE id = @id::bigint)
