-- seqlease submit_count (L1): fresh ids, which are never given out again
UPDATE counter SET last = last + @entries WHERE name IN ('accession', 'entry') RETURNING name, last
