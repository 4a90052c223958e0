-- seqlease released_among (L13): whether one of these is a released entry under the current pipeline version
SELECT EXISTS (
    SELECT FROM organism AS o
    CROSS JOIN unnest(@versions::bigint[], @ids::bigint[]) AS p (version, id)
    CROSS JOIN LATERAL (SELECT released_at FROM entry WHERE id = p.id OFFSET 0) AS e
    WHERE o.id = @organism::int AND o.current_version = p.version AND e.released_at IS NOT NULL
) AS released
