-- seqlease copy_entries (L1): a chunk of an upload
COPY entry (id, version, group_id, dictionary_id, organism_id, accession, submission_id, submitter, submitted) FROM STDIN (FORMAT binary)
