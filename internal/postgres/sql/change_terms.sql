-- seqlease change_terms (L11): adds the terms to the history of each accession, all with one instant after the entries were locked
WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS at)
INSERT INTO data_use_terms (accession, changed_at, restricted, restricted_until, user_name)
SELECT k.accession, clock.at, @restricted::boolean, @until::date, @user::text
FROM unnest(@accessions::text[]) AS k (accession)
CROSS JOIN clock
