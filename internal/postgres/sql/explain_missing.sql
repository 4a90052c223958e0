-- seqlease explain_missing (L5, L6, L10): what is known of result lines that no running lease of their attempt holds
WITH line AS MATERIALIZED (
    SELECT l.n, l.attempt_id, l.accession, l.version, l.digest
    FROM unnest(@attempts::uuid[], @accessions::text[], @versions::bigint[], @digests::bytea[])
        WITH ORDINALITY AS l (attempt_id, accession, version, digest, n)
),
-- A lease may hold an entry at a revision that was edited since.
held AS MATERIALIZED (
    SELECT l.attempt_id, p.entry_id, p.revision, l.lease_until <= clock_timestamp() AS ended, l.lease_until,
        l.claimed_by = @claimed_by::text AS own, l.pipeline_version
    FROM lease AS l, unnest(l.entry_ids, l.revisions) AS p (entry_id, revision)
    WHERE l.attempt_id = ANY (@attempts)
)
SELECT l.n::int AS n, e.key AS organism,
    coalesce(r.attempt_id = l.attempt_id AND r.revision = e.revision AND r.claimed_by_sum = @claimed_by_sum::int, false) AS stored,
    coalesce(r.digest = l.digest, false) AS same,
    coalesce(l.attempt_id = ANY (e.superseded_attempts), false) OR coalesce(h.revision <> e.revision, false) AS edited,
    CASE WHEN h.ended AND h.own AND h.pipeline_version = @version::bigint THEN h.lease_until END AS ended_at,
    CASE WHEN h.own AND h.pipeline_version <> @version THEN h.pipeline_version END AS claimed_version
FROM line AS l
LEFT JOIN LATERAL (
    SELECT e.id, e.revision, e.superseded_attempts, o.key FROM entry AS e JOIN organism AS o ON o.id = e.organism_id
    WHERE e.accession = l.accession AND e.version = l.version OFFSET 0
) AS e ON true
LEFT JOIN LATERAL (
    SELECT attempt_id, revision, digest, claimed_by_sum FROM result
    WHERE pipeline_version = @version::bigint AND entry_id = e.id OFFSET 0
) AS r ON true
LEFT JOIN held AS h ON h.attempt_id = l.attempt_id AND h.entry_id = e.id
ORDER BY l.n
