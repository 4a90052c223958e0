-- seqlease empty_claim_record (L10)
DELETE FROM claim_record
