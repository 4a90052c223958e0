-- seqlease register_organism (V1): makes an organism known with pipeline version 1 as the current one; an existing one stays as it is
INSERT INTO organism (key) VALUES (@key::text) ON CONFLICT (key) DO NOTHING
