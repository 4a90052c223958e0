-- seqlease reserve_ids (L1): entry ids for a chunk of revisions, ascending; gaps are allowed
SELECT array_agg(nextval('entry_id')) FROM generate_series(1, @count::int)
