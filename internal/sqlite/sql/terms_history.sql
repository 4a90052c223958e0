-- seqlease terms_history: oldest first; of an upload under way nobody sees anything (L1), and what was deleted keeps its terms
SELECT t.change_number, t.changed_at, t.changed_by, t.terms, coalesce(t.restricted_until, '')
FROM data_use_terms AS t
WHERE t.accession = @accession AND t.change_number > @after
  AND (EXISTS (SELECT 1 FROM published_entry AS e WHERE e.accession = @accession)
       OR NOT EXISTS (SELECT 1 FROM entry AS e
                      WHERE e.accession = @accession
                        AND NOT EXISTS (SELECT 1 FROM upload AS u
                                        CROSS JOIN upload_run AS r ON r.upload_id = u.id
                                        WHERE u.deleted_by IS NOT NULL AND e.id BETWEEN r.first_entry_id AND r.last_entry_id)))
ORDER BY t.change_number
LIMIT @limit
