-- seqlease create_group
INSERT INTO submitting_group (group_name, institution, line1, line2, city, state, postal_code, country, contact_email)
VALUES (@group_name, @institution, @line1, @line2, @city, @state, @postal_code, @country, @contact_email)
RETURNING id
