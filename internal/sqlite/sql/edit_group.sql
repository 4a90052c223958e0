-- seqlease edit_group
UPDATE submitting_group
SET group_name = @group_name, institution = @institution, line1 = @line1, line2 = @line2, city = @city, state = @state,
    postal_code = @postal_code, country = @country, contact_email = @contact_email
WHERE id = @group_id
