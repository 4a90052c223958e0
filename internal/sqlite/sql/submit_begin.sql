-- seqlease submit_begin (L1, L11): the instant of the whole upload
INSERT INTO upload (started_at) VALUES ((SELECT now FROM clock)) RETURNING id, started_at
