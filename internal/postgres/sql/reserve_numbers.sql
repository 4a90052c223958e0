-- seqlease reserve_numbers (L1): accession numbers and entry ids for a chunk of an upload, both ascending; gaps are allowed
SELECT nextval('accession_number') AS accession_number, nextval('entry_id') AS entry_id FROM generate_series(1, @count::int)
