-- seqlease leftover_terms (L1): terms of entries that nobody ever saw
DELETE FROM data_use_terms
WHERE accession IN (SELECT e.accession FROM entry AS e WHERE e.id BETWEEN @first_entry_id AND @last_entry_id AND e.version = 1)
