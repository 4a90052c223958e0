-- seqlease journey: what happened to an entry besides its claims, failures and quarantine, the newest of each kind by time, and how many of the kind are left out
WITH this AS MATERIALIZED (
    SELECT id, organism_id, accession, version, revision, is_revocation, submitted_at, submitter, released_at, approver
    FROM entry WHERE id = @id::bigint
),
happened AS MATERIALIZED (
    SELECT submitted_at AS at, CASE WHEN is_revocation THEN 'revoked' WHEN version > 1 THEN 'revised' ELSE 'submitted' END AS kind,
        submitter AS user_name, NULL::bigint AS pipeline_version, NULL::uuid AS attempt_id, '' AS detail
    FROM this
    UNION ALL
    SELECT released_at, 'approved', approver, NULL, NULL, '' FROM this WHERE released_at IS NOT NULL
    UNION ALL
    SELECT a.at, 'edited', a.user_name, NULL, NULL, a.detail
    FROM this
    CROSS JOIN LATERAL (
        SELECT at, user_name, detail FROM audit
        WHERE accession = this.accession AND version = this.version AND action = 'edit' AND at >= this.submitted_at OFFSET 0
    ) AS a
    UNION ALL
    -- What quarantine stored is told as quarantine.
    SELECT r.processed_at, 'processed', '', r.pipeline_version, r.attempt_id,
        (ARRAY['NO_ISSUES', 'HAS_WARNINGS', 'HAS_ERRORS'])[r.outcome + 1] || CASE WHEN r.revision = this.revision THEN '' ELSE ', of data that was edited since' END
    FROM this
    JOIN pipeline_version AS pv ON pv.organism_id = this.organism_id
    CROSS JOIN LATERAL (
        SELECT processed_at, pipeline_version, attempt_id, outcome, revision FROM result
        WHERE pipeline_version = pv.version AND entry_id = this.id OFFSET 0
    ) AS r
    WHERE NOT EXISTS (SELECT FROM quarantine WHERE pipeline_version = r.pipeline_version AND entry_id = this.id AND attempt_id = r.attempt_id)
    UNION ALL
    SELECT t.changed_at, 'terms-changed', t.user_name, NULL, NULL,
        CASE WHEN t.restricted THEN 'RESTRICTED until ' || to_char(t.restricted_until, 'YYYY-MM-DD') ELSE 'OPEN' END
    FROM this
    CROSS JOIN LATERAL (
        SELECT changed_at, user_name, restricted, restricted_until FROM data_use_terms
        WHERE accession = this.accession AND changed_at > this.submitted_at OFFSET 0
    ) AS t
    UNION ALL
    SELECT x.updated_at, 'external-metadata', x.user_name, NULL, NULL, x.updater
    FROM this
    CROSS JOIN LATERAL (SELECT updated_at, user_name, updater FROM external_metadata WHERE entry_id = this.id OFFSET 0) AS x
    UNION ALL
    SELECT e.submitted_at, 'superseded', e.submitter, NULL, NULL,
        CASE WHEN e.is_revocation THEN 'revoked by ' ELSE 'revised by ' END || this.accession || '.' || e.version
    FROM this
    CROSS JOIN LATERAL (
        SELECT submitted_at, submitter, is_revocation, version FROM entry WHERE accession = this.accession AND version > this.version OFFSET 0
    ) AS e
)
SELECT at, kind, user_name, pipeline_version, attempt_id, detail, all_of_kind - least(all_of_kind, @limit::bigint) AS omitted
FROM (
    SELECT at, kind, user_name, pipeline_version, attempt_id, detail, count(*) OVER (PARTITION BY kind) AS all_of_kind,
        row_number() OVER (PARTITION BY kind ORDER BY at DESC) AS newest
    FROM happened
) AS h
WHERE newest <= @limit
ORDER BY at, kind
