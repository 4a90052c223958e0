-- seqlease revoke_count: fresh entry ids, which are never given out again
UPDATE counter SET last = last + @entries WHERE name = 'entry' RETURNING last
