-- seqlease terms_of: the organism and the newest terms of accessions; those without an entry are left out
SELECT v.value, e.organism_id, t.terms, coalesce(t.restricted_until, '')
FROM json_each(@accessions) AS v
CROSS JOIN published_entry AS e
    ON e.accession = v.value AND e.version = (SELECT min(f.version) FROM entry AS f WHERE f.accession = v.value)
CROSS JOIN data_use_terms AS t
    ON t.accession = v.value
   AND t.change_number = (SELECT max(u.change_number) FROM data_use_terms AS u WHERE u.accession = v.value)
