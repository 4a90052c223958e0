-- seqlease keep_key: what an upload with this key has stored
INSERT INTO upload_key (user_name, key, created_at, digest, answer)
SELECT @user, @key, c.now, @digest, @answer
FROM clock AS c
