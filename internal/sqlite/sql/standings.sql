-- seqlease standings (L4, V9): where entries of any organism stand, by accession and version; a version of NULL is the highest
SELECT s.accession, s.version, o.key, s.group_id,
       CASE WHEN s.released_at IS NOT NULL THEN 'APPROVED_FOR_RELEASE'
            WHEN s.is_revocation OR s.outcome IS NOT NULL THEN 'PROCESSED'
            WHEN s.lease_until > (SELECT now FROM clock) THEN 'IN_PROCESSING'
            ELSE 'RECEIVED'
       END AS status,
       CASE WHEN s.outcome IS NOT NULL THEN s.outcome
            WHEN s.lease_until > (SELECT now FROM clock) THEN ''
            ELSE 'NO_ISSUES'
       END AS result,
       s.is_revocation
FROM (SELECT value ->> 0 AS accession, value ->> 1 AS version FROM json_each(@entries)) AS v
CROSS JOIN entry_state AS s
    ON s.accession = v.accession
   AND s.version = coalesce(v.version, (SELECT max(n.version) FROM published_entry AS n WHERE n.accession = v.accession))
CROSS JOIN organism AS o ON o.id = s.organism_id
ORDER BY s.accession, s.version
