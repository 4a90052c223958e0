-- seqlease approval_begin (L11): it releases nothing yet
INSERT INTO approval (organism_id, approver) VALUES (@organism_id, @approver) RETURNING id
