-- seqlease newest_terms: the data use terms of accessions whose entries are locked; one without a row is open
SELECT k.accession, coalesce(t.restricted, false) AS restricted, t.restricted_until
FROM unnest(@accessions::text[]) AS k (accession)
LEFT JOIN LATERAL (
    SELECT restricted, restricted_until FROM data_use_terms WHERE accession = k.accession ORDER BY number DESC LIMIT 1
) AS t ON true
