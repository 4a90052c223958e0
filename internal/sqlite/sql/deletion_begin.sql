-- seqlease deletion_begin (L10): it hides nothing yet
INSERT INTO upload (organism_id, started_at, hides, deleted_by)
VALUES (@organism_id, (SELECT now FROM clock), 0, @user)
RETURNING id
