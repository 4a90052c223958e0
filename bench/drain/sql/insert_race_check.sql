-- bench insert_race_check: results; those with the right size that begin with the number of their entry; what waits or is held
SELECT count(*) FILTER (WHERE p.status = 'PROCESSED'),
    count(*) FILTER (WHERE p.status = 'PROCESSED' AND e.submission_id::bigint BETWEEN 1 AND $2::bigint AND octet_length(p.body) = $1::int
        AND substring(p.body FROM 1 FOR 8) = int8send(e.submission_id::bigint)),
    count(*) FILTER (WHERE p.status IS DISTINCT FROM 'PROCESSED')
FROM entry AS e LEFT JOIN processing AS p ON p.accession = e.accession AND p.version = e.version AND p.pipeline_version = 1
