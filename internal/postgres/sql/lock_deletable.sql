-- seqlease lock_deletable (L10): locks what a deletion may take, of the given entries or else of all, in order of id; an outcome below 0 stands for any and for none
SELECT e.id, e.accession, e.version
FROM entry AS e
JOIN organism AS o ON o.id = e.organism_id
LEFT JOIN result AS r ON r.pipeline_version = o.current_version AND r.entry_id = e.id AND r.revision = e.revision
WHERE e.organism_id = @organism::int AND e.released_at IS NULL
    AND (@ids::bigint[] IS NULL OR e.id = ANY (@ids))
    AND (@groups::bigint[] IS NULL OR e.group_id = ANY (@groups))
    AND (@outcome::smallint < 0 OR NOT e.is_revocation AND r.outcome = @outcome)
ORDER BY e.id FOR UPDATE OF e
