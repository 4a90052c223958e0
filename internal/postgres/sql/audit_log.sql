-- seqlease audit_log: rows of the audit log, newest first; planned anew each time, so that conditions that aren't meant cost nothing
SELECT a.number, a.at, a.user_name, a.action, coalesce(o.key, '') AS organism, coalesce(a.group_id, 0) AS group_id,
    coalesce(a.accession, '') AS accession, coalesce(a.version, 0) AS version, a.entries, a.detail
FROM audit AS a
LEFT JOIN organism AS o ON o.id = a.organism_id
WHERE (@before::bigint = 0 OR a.number < @before)
    AND (@organism::int = 0 OR a.organism_id = @organism)
    AND (@user::text = '' OR a.user_name = @user)
    AND (@action::text = '' OR a.action = @action)
    AND (@accession::text = '' OR a.accession = @accession)
    AND (@group_id::bigint = 0 OR a.group_id = @group_id)
    AND (@from::timestamptz IS NULL OR a.at >= @from)
    AND (@to::timestamptz IS NULL OR a.at < @to)
ORDER BY a.number DESC LIMIT @limit::int
