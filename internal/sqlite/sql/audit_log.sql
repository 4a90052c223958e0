-- seqlease audit_log: rows of the audit log, newest first
SELECT a.number, a.at, a.user_name, a.action, coalesce(o.key, ''), coalesce(a.group_id, 0), coalesce(a.accession, ''), coalesce(a.version, 0),
       a.entries, a.detail
FROM audit AS a
LEFT JOIN organism AS o ON o.id = a.organism_id
WHERE a.number < @before
  AND (@organism_id = 0 OR a.organism_id = @organism_id)
  AND (@user = '' OR a.user_name = @user)
  AND (@action = '' OR a.action = @action)
  AND (@accession = '' OR a.accession = @accession)
  AND (@group_id = 0 OR a.group_id = @group_id)
  AND (@from IS NULL OR a.at >= @from)
  AND (@to IS NULL OR a.at < @to)
ORDER BY a.number DESC
LIMIT @limit
