-- seqlease deletion_restore (L9, L10): the tickets of a part as they were, but for entries that the deletion let go or that were edited or released meanwhile: what these need the reconciler finds (V4)
INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id, attempts, hand_outs)
SELECT k.value ->> 0, k.value ->> 1, k.value ->> 2, k.value ->> 3, k.value ->> 4, k.value ->> 5, k.value ->> 6
FROM withdrawn_ticket AS w
CROSS JOIN json_each(w.tickets) AS k
CROSS JOIN entry AS e ON e.id = k.value ->> 4
CROSS JOIN pipeline_version AS p ON p.organism_id = e.organism_id AND p.version = k.value ->> 1
WHERE w.first_entry_id = @first_entry_id
  AND e.id <= (SELECT r.last_entry_id FROM upload_run AS r
               WHERE r.first_entry_id <= e.id AND r.upload_id = @upload_id
               ORDER BY r.first_entry_id DESC LIMIT 1)
  AND NOT EXISTS (SELECT 1 FROM changed_entry AS c WHERE c.upload_id = @upload_id AND c.entry_id = e.id)
ON CONFLICT (pipeline_version, entry_id) DO NOTHING
RETURNING organism_id, pipeline_version, entry_id
