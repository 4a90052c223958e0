-- seqlease edit_group: what is said about a group that is locked
UPDATE submitting_group
SET group_name = @group_name::text, institution = @institution::text, line1 = @line1::text, line2 = @line2::text, city = @city::text,
    state = @state::text, postal_code = @postal_code::text, country = @country::text, contact_email = @contact_email::text
WHERE id = @id::bigint
