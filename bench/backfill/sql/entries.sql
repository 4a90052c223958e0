-- bench entries: $1 of organism 'bench' with $2 as data, in blocks of groups; three of five are released
INSERT INTO entry (id, organism_id, accession, version, group_id, submitter, submission_id, dictionary_id, submitted, released_at, approver)
SELECT n, o.id, 'LOC_' || lpad(n::text, 9, '0'), 1, 1 + n / 500 % $4, 'anna', 'sample-' || n, $3, $2::bytea,
    CASE WHEN n % 5 < 3 THEN now() END, CASE WHEN n % 5 < 3 THEN 'anna' END
FROM generate_series(1, $1::bigint) AS n, organism AS o WHERE o.key = 'bench'
