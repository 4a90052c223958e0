-- bench numbers: ids and accessions go on behind those
SELECT setval('entry_id', $1::bigint), setval('accession_number', $1)
