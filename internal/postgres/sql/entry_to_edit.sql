-- seqlease entry_to_edit (L4, V9): an entry of any organism as of now, with what was submitted and the result of its present revision; outcome is null while in processing
SELECT o.key, e.group_id,
    CASE
        WHEN e.released_at IS NOT NULL THEN 3
        WHEN e.is_revocation THEN 2
        WHEN r.entry_id IS NOT NULL THEN 2
        WHEN h.held THEN 1
        ELSE 0
    END AS status,
    CASE WHEN e.is_revocation OR r.entry_id IS NOT NULL OR NOT h.held THEN coalesce(r.outcome, 0) END AS outcome,
    e.is_revocation, e.submission_id, e.dictionary_id, e.submitted, coalesce(r.dictionary_id, 0) AS result_dictionary, r.body
FROM entry AS e
CROSS JOIN LATERAL (SELECT key, current_version FROM organism WHERE id = e.organism_id OFFSET 0) AS o
CROSS JOIN LATERAL (
    SELECT EXISTS (
        SELECT FROM lease AS l
        WHERE l.organism_id = e.organism_id AND l.pipeline_version = o.current_version AND l.lease_until > now() AND e.id = ANY (l.entry_ids)
    ) AS held OFFSET 0
) AS h
LEFT JOIN LATERAL (
    SELECT entry_id, outcome, dictionary_id, body FROM result
    WHERE pipeline_version = o.current_version AND entry_id = e.id AND revision = e.revision OFFSET 0
) AS r ON true
WHERE e.accession = @accession::text AND e.version = @version::bigint
