-- seqlease copy_terms (L1): the data use terms of a chunk of an upload, unless they are open: that is what an accession without a row is
COPY data_use_terms (accession, restricted, restricted_until, user_name) FROM STDIN (FORMAT binary)
