-- seqlease read_released (L12): released entries with the results of the current pipeline version, if they have one, and what updaters say of them
SELECT e.accession, e.version, e.submission_id, e.submitter, e.group_id, g.group_name, e.is_revocation, e.submitted_at,
       e.released_at, t.terms, coalesce(t.restricted_until, ''), t.changed_at,
       coalesce(r.dictionary_id, 0), r.body, coalesce(s.dictionary_id, 0), s.body,
       (SELECT json_group_array(json_array(x.updater, x.body))
        FROM (SELECT m.updater, m.body FROM external_metadata AS m WHERE m.entry_id = e.id ORDER BY m.updater) AS x)
FROM known_entry AS e
JOIN submitting_group AS g ON g.id = e.group_id
JOIN data_use_terms AS t
    ON t.accession = e.accession
   AND t.change_number = (SELECT max(u.change_number) FROM data_use_terms AS u WHERE u.accession = e.accession)
LEFT JOIN result AS r
    ON NOT e.is_revocation AND r.pipeline_version = @pipeline_version AND r.entry_id = e.id AND r.revision = e.revision
LEFT JOIN submitted AS s ON e.is_revocation AND s.entry_id = e.id AND s.revision = e.revision
WHERE e.organism_id = @organism_id AND e.released_at IS NOT NULL
ORDER BY e.accession, e.version
