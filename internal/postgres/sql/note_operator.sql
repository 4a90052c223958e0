-- seqlease note_operator (L16): the audit log's row of an operator's call, written by the first transaction that changes something and added to by the others
WITH added AS (
    UPDATE audit SET entries = entries + @entries::bigint WHERE number = @number::bigint RETURNING number
),
made AS (
    INSERT INTO audit (user_name, action, organism_id, entries, detail)
    SELECT @user::text, @action::text, @organism::int, @entries, @detail::text WHERE @number = 0
    RETURNING number
)
SELECT number FROM added UNION ALL SELECT number FROM made
