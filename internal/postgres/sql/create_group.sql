-- seqlease create_group: a group with its creator as the first member
WITH made AS (
    INSERT INTO submitting_group (group_name, institution, line1, line2, city, state, postal_code, country, contact_email)
    VALUES (@group_name::text, @institution::text, @line1::text, @line2::text, @city::text, @state::text, @postal_code::text,
        @country::text, @contact_email::text)
    RETURNING id
)
INSERT INTO group_member (group_id, user_name) SELECT id, @creator::text FROM made RETURNING group_id
