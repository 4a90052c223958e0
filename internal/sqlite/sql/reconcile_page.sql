-- seqlease reconcile_page (V4): the next entries that are looked at: how many, and the last
SELECT count(*), coalesce(max(e.id), 0) FROM (SELECT id FROM published_entry WHERE id > @after ORDER BY id LIMIT @limit) AS e
