-- seqlease register_organism (V1): the current pipeline version is never overwritten
INSERT INTO organism (key, dictionary_id) VALUES (@organism, @dictionary_id)
ON CONFLICT (key) DO UPDATE SET dictionary_id = excluded.dictionary_id
RETURNING id, current_pipeline_version
