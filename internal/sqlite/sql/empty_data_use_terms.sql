-- seqlease empty_data_use_terms (L1): but for those of new accessions of uploads under way
DELETE FROM data_use_terms
WHERE NOT EXISTS (SELECT 1 FROM entry AS e
                  CROSS JOIN upload_run AS u ON e.id BETWEEN u.first_entry_id AND u.last_entry_id
                  WHERE e.accession = data_use_terms.accession)
