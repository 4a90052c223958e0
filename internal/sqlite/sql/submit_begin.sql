-- seqlease submit_begin (L1, L11): the instant of the whole upload
INSERT INTO upload (organism_id, started_at) VALUES (@organism_id, (SELECT now FROM clock)) RETURNING id, started_at
