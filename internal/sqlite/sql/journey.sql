-- seqlease journey: what happened to an entry besides its claims, failures and quarantine, the newest of each kind by time, and how many of the kind are left out
WITH this AS MATERIALIZED (
    SELECT e.id, e.organism_id, e.accession, e.version, e.revision, e.is_revocation, e.submitted_at, e.submitter, e.released_at, e.approver
    FROM known_entry AS e
    WHERE e.id = @entry_id
),
happened AS (
    SELECT t.submitted_at AS at, CASE WHEN t.is_revocation THEN 'revoked' WHEN t.version > 1 THEN 'revised' ELSE 'submitted' END AS kind,
           t.submitter AS user_name, 0 AS pipeline_version, NULL AS attempt_id, '' AS detail
    FROM this AS t
    UNION ALL
    SELECT t.released_at, 'approved', t.approver, 0, NULL, '' FROM this AS t WHERE t.released_at IS NOT NULL
    UNION ALL
    SELECT a.at, 'edited', a.user_name, 0, NULL, a.detail
    FROM this AS t
    CROSS JOIN audit AS a ON a.accession = t.accession AND a.version = t.version AND a.action = 'edit' AND a.at >= t.submitted_at
    UNION ALL
    -- What quarantine stored is told as quarantine.
    SELECT r.processed_at, 'processed', '', r.pipeline_version, r.attempt_id,
           r.outcome || CASE WHEN r.revision = t.revision THEN '' ELSE ', of data that was edited since' END
    FROM this AS t
    CROSS JOIN pipeline_version AS p ON p.organism_id = t.organism_id
    CROSS JOIN result AS r ON r.pipeline_version = p.version AND r.entry_id = t.id
    WHERE NOT EXISTS (SELECT 1 FROM quarantine AS q
                      WHERE q.pipeline_version = r.pipeline_version AND q.entry_id = t.id AND q.attempt_id = r.attempt_id)
    UNION ALL
    -- The first change of an accession's terms is its submission.
    SELECT d.changed_at, 'terms-changed', d.changed_by, 0, NULL, d.terms || coalesce(' until ' || d.restricted_until, '')
    FROM this AS t
    CROSS JOIN data_use_terms AS d ON d.accession = t.accession AND d.change_number > 1 AND d.changed_at >= t.submitted_at
    UNION ALL
    SELECT x.updated_at, 'external-metadata', x.user_name, 0, NULL, x.updater
    FROM this AS t
    CROSS JOIN external_metadata AS x ON x.entry_id = t.id
    UNION ALL
    SELECT e.submitted_at, 'superseded', e.submitter, 0, NULL,
           CASE WHEN e.is_revocation THEN 'revoked by ' ELSE 'revised by ' END || e.accession || '.' || e.version
    FROM this AS t
    CROSS JOIN published_entry AS e ON e.accession = t.accession AND e.version > t.version
)
SELECT h.at, h.kind, h.user_name, h.pipeline_version, h.attempt_id, h.detail, h.all_of_kind - min(h.all_of_kind, @limit)
FROM (SELECT n.at, n.kind, n.user_name, n.pipeline_version, n.attempt_id, n.detail, count(*) OVER (PARTITION BY n.kind) AS all_of_kind,
             row_number() OVER (PARTITION BY n.kind ORDER BY n.at DESC) AS newest
      FROM happened AS n) AS h
WHERE h.newest <= @limit
ORDER BY h.at, h.kind
