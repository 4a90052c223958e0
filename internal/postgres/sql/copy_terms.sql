-- seqlease copy_terms (L1): the data use terms of a chunk of an upload
COPY data_use_terms (accession, restricted, restricted_until, user_name) FROM STDIN (FORMAT binary)
