-- seqlease revise_count (L1): fresh ids, which are never given out again
UPDATE counter SET last = last + @entries WHERE name = 'entry' RETURNING last
