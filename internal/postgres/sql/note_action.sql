-- seqlease note_action: a row of the audit log for each named entry, or one for the call as a whole
INSERT INTO audit (user_name, action, organism_id, group_id, accession, version, entries, detail)
SELECT @user::text, @action::text, nullif(@organism::int, 0), nullif(@group::bigint, 0), e.accession, e.version, @entries::bigint, @detail::text
FROM unnest(@accessions::text[], @versions::bigint[]) WITH ORDINALITY AS e (accession, version, n)
ORDER BY e.n
