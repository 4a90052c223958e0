-- bench row_lease_alone_check: results; those with the right size that begin with the number of their entry; what waits or is held
SELECT count(*) FILTER (WHERE p.status = 'PROCESSED'),
    count(*) FILTER (WHERE p.status = 'PROCESSED' AND e.submission_id::bigint BETWEEN 1 AND $2::bigint AND octet_length(p.body) = $1::int
        AND substring(p.body FROM 1 FOR 8) = int8send(e.submission_id::bigint)),
    count(*) FILTER (WHERE p.status <> 'PROCESSED')
FROM processing AS p JOIN entry AS e ON e.accession = p.accession AND e.version = p.version
