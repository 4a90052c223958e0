-- seqlease terms_history: the data use terms of an accession, oldest first
SELECT number, changed_at, restricted, restricted_until, user_name
FROM (
    SELECT number, changed_at, restricted, restricted_until, user_name
    FROM data_use_terms WHERE accession = @accession::text AND number > @after::bigint
    ORDER BY number LIMIT @count::bigint
) AS kept
UNION ALL
-- Without terms of its own an accession has been open since its first version was submitted.
SELECT number, changed_at, restricted, restricted_until, user_name
FROM (
    SELECT 0 AS number, submitted_at AS changed_at, false AS restricted, NULL::date AS restricted_until, submitter AS user_name
    FROM entry
    WHERE accession = @accession AND @after = 0 AND NOT EXISTS (SELECT FROM data_use_terms WHERE accession = @accession)
    ORDER BY version LIMIT 1
) AS implied
ORDER BY number
