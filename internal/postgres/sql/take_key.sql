-- seqlease take_key: notes that an upload with this key is under way; another one with it waits for its end
INSERT INTO upload_key (user_name, key, digest, answer) VALUES (@user::text, @key::text, @digest::bytea, '') ON CONFLICT (user_name, key) DO NOTHING
