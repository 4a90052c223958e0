-- seqlease organism_dictionaries: what is compressed against now
SELECT key, dictionary_id FROM organism
