-- bench store_check: results; those with the right size that begin with the number of their entry; what waits or is held
SELECT (SELECT count(*) FROM result),
    (SELECT count(*) FROM entry AS e JOIN result AS r ON r.pipeline_version = 1 AND r.entry_id = e.id AND r.revision = e.revision
        WHERE e.submission_id::bigint BETWEEN 1 AND $2::bigint AND octet_length(r.body) = $1::int
            AND substring(r.body FROM 1 FOR 8) = int8send(e.submission_id::bigint)),
    (SELECT count(*) FROM ticket) + (SELECT coalesce(sum(cardinality(entry_ids)), 0) FROM lease)::bigint
