-- seqlease read_released (L12): every released entry version by accession and version, with its result under the current pipeline version, if it has one, and what updaters say of it
SELECT e.accession, e.version, e.submission_id, e.submitter, e.group_id, g.group_name, e.is_revocation, e.submitted_at, e.released_at,
    o.current_version, coalesce(t.restricted, false) AS restricted, t.restricted_until,
    -- Without terms of its own an accession has been open since its first version was submitted.
    coalesce(t.changed_at, CASE WHEN e.version = 1 THEN e.submitted_at ELSE (
        SELECT submitted_at FROM entry WHERE accession = e.accession ORDER BY version LIMIT 1) END) AS changed_at,
    CASE WHEN e.is_revocation THEN e.dictionary_id ELSE coalesce(r.dictionary_id, 0) END AS dictionary_id,
    CASE WHEN e.is_revocation THEN e.submitted ELSE r.body END AS document,
    x.updaters, x.documents
FROM entry AS e
JOIN organism AS o ON o.id = e.organism_id
JOIN submitting_group AS g ON g.id = e.group_id
LEFT JOIN result AS r ON r.pipeline_version = o.current_version AND r.entry_id = e.id AND r.revision = e.revision
LEFT JOIN LATERAL (
    SELECT restricted, restricted_until, changed_at FROM data_use_terms WHERE accession = e.accession ORDER BY number DESC LIMIT 1
) AS t ON true
LEFT JOIN LATERAL (
    SELECT array_agg(updater ORDER BY updater) AS updaters, array_agg(body ORDER BY updater) AS documents
    FROM external_metadata WHERE entry_id = e.id
) AS x ON true
WHERE e.organism_id = @organism::int AND e.released_at IS NOT NULL
ORDER BY e.accession, e.version
