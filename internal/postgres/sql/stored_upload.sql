-- seqlease stored_upload: what an upload with this key has stored
SELECT digest, answer FROM upload_key WHERE user_name = @user::text AND key = @key::text
