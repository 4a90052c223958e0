-- seqlease submit_count: fresh ids, which are never given out again
UPDATE counter SET last = last + @entries WHERE name IN ('accession', 'entry') RETURNING name, last
