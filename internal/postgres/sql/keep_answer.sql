-- seqlease keep_answer: what an upload with this key has stored
UPDATE upload_key SET answer = @answer::bytea WHERE user_name = @user::text AND key = @key::text
