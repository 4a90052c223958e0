-- seqlease change_terms (L11)
INSERT INTO data_use_terms (accession, change_number, changed_at, changed_by, terms, restricted_until)
SELECT v.value, (SELECT max(u.change_number) FROM data_use_terms AS u WHERE u.accession = v.value) + 1, (SELECT now FROM clock), @user,
       @terms, @restricted_until
FROM json_each(@accessions) AS v
