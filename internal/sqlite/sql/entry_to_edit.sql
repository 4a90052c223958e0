-- seqlease entry_to_edit (L4, V9): an entry of any organism, with what was submitted and the result of its present revision
SELECT o.key, s.group_id,
       CASE WHEN s.released_at IS NOT NULL THEN 'APPROVED_FOR_RELEASE'
            WHEN s.is_revocation OR s.outcome IS NOT NULL THEN 'PROCESSED'
            WHEN s.lease_until > (SELECT now FROM clock) THEN 'IN_PROCESSING'
            ELSE 'RECEIVED'
       END AS status,
       CASE WHEN s.outcome IS NOT NULL THEN s.outcome
            WHEN s.lease_until > (SELECT now FROM clock) THEN ''
            ELSE 'NO_ISSUES'
       END AS result,
       s.is_revocation, s.submission_id, d.dictionary_id, d.body, coalesce(r.dictionary_id, 0), r.body
FROM entry_state AS s
CROSS JOIN organism AS o ON o.id = s.organism_id
CROSS JOIN submitted AS d ON d.entry_id = s.id AND d.revision = s.revision
LEFT JOIN result AS r
    ON r.pipeline_version = o.current_pipeline_version AND r.entry_id = s.id AND r.revision = s.revision
WHERE s.accession = @accession AND s.version = @version
