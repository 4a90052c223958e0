-- bench insert_race_fill: nothing but the entries; that they wait is that they have no processing row
INSERT INTO entry (accession, version, organism, group_id, submitter, submission_id, document)
SELECT 'R_' || lpad(n::text, 9, '0'), 1, 'benchvirus', 1, 'anna', n::text, document
FROM unnest($1::bigint[], $2::bytea[]) AS d (n, document)
