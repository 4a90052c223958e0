-- seqlease reserve_numbers (L1): accession numbers and entry ids for a chunk of an upload, both ascending; gaps are allowed
SELECT array_agg(nextval('accession_number')), array_agg(nextval('entry_id')) FROM generate_series(1, @count::int)
