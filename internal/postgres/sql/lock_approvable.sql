-- seqlease lock_approvable (L10): locks what an approval without a list of entries may take, in order of id
SELECT e.id
FROM entry AS e
JOIN organism AS o ON o.id = e.organism_id
LEFT JOIN result AS r ON r.pipeline_version = o.current_version AND r.entry_id = e.id AND r.revision = e.revision
WHERE e.organism_id = @organism::int AND e.released_at IS NULL AND (e.is_revocation OR r.outcome <= @worst::smallint)
    AND (@groups::bigint[] IS NULL OR e.group_id = ANY (@groups))
    AND (@submitters::text[] IS NULL OR e.submitter = ANY (@submitters))
ORDER BY e.id FOR UPDATE OF e
