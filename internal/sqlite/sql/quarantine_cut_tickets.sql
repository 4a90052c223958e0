-- seqlease quarantine_cut_tickets (L9): what is in quarantine by these, [[pipeline version, entry id, attempt id],…], doesn't wait
DELETE FROM ticket
WHERE (pipeline_version, entry_id) IN (SELECT q.pipeline_version, q.entry_id
                                       FROM json_each(@places) AS p
                                       CROSS JOIN quarantine AS q ON q.pipeline_version = p.value ->> 0 AND q.entry_id = p.value ->> 1
                                                                 AND q.attempt_id = unhex(p.value ->> 2))
