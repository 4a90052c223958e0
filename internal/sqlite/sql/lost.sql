-- seqlease lost (L7): what somebody else than its worker cut from a lease
SELECT accession, version FROM lost WHERE attempt_id = @attempt_id
