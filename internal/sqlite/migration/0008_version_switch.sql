-- Current versions that move (V5) and old ones that go (V7). It is separate because
-- stores with the schema before it exist. It adds a table and replaces views, in no
-- time, and ships alone or with others: no older server runs beside it, as a store has
-- one server.

-- +goose Up
-- Which version became the current one of its organism, when. The first version of an
-- organism has no row.
CREATE TABLE version_switch (
    number           INTEGER PRIMARY KEY,
    organism_id      INTEGER NOT NULL,
    pipeline_version INTEGER NOT NULL,
    switched_at      INTEGER NOT NULL
) STRICT;

-- The versions that may be claimed with; pipeline_version has also those below the
-- current one whose rows are there still.
CREATE VIEW live_version AS
SELECT p.organism_id, p.version, p.paused
FROM pipeline_version AS p
CROSS JOIN organism AS o ON o.id = p.organism_id AND p.version >= o.current_pipeline_version;

DROP VIEW lane_head;
DROP VIEW forgotten;

-- Where fair order stands (L17): the rank of what waits first in the lane, or, if
-- nothing waits, the largest one given.
CREATE VIEW lane_head AS
SELECT p.organism_id, p.version AS pipeline_version, n.value AS lane,
       coalesce(nullif(min(coalesce((SELECT t.rank FROM ticket AS t
                                     WHERE t.organism_id = p.organism_id AND t.pipeline_version = p.version AND t.lane = n.value
                                     ORDER BY t.rank LIMIT 1), 9223372036854775807),
                           coalesce((SELECT r.rank FROM ticket_run AS r
                                     WHERE r.organism_id = p.organism_id AND r.pipeline_version = p.version AND n.value = 0
                                     ORDER BY r.rank LIMIT 1), 9223372036854775807)), 9223372036854775807),
                (SELECT u.last_rank FROM turn AS u
                 WHERE u.organism_id = p.organism_id AND u.pipeline_version = p.version AND u.lane = n.value AND u.group_id = 0),
                0) AS rank
FROM live_version AS p
CROSS JOIN (SELECT 0 AS value UNION ALL SELECT 1) AS n;

-- Entries for which a live version has neither ticket, nor lease, nor a result of
-- the present revision (L1, V4).
CREATE VIEW forgotten AS
SELECT e.id AS entry_id, p.organism_id, p.version AS pipeline_version
FROM free_entry AS e
JOIN live_version AS p ON p.organism_id = e.organism_id
WHERE NOT e.is_revocation
  AND NOT EXISTS (SELECT 1 FROM ticket AS t WHERE t.pipeline_version = p.version AND t.entry_id = e.id)
  AND NOT EXISTS (SELECT 1 FROM leased AS d WHERE d.pipeline_version = p.version AND d.entry_id = e.id)
  AND NOT EXISTS (SELECT 1 FROM result AS r WHERE r.pipeline_version = p.version AND r.entry_id = e.id AND r.revision = e.revision)
  AND e.id > coalesce((SELECT u.last_entry_id FROM ticket_run AS u
                       WHERE u.pipeline_version = p.version AND u.first_entry_id <= e.id
                       ORDER BY u.first_entry_id DESC LIMIT 1), 0);

-- Entries of accessions that a released revocation took back.
CREATE VIEW revoked AS
SELECT e.id AS entry_id
FROM entry AS e
WHERE EXISTS (SELECT 1 FROM entry AS n
              WHERE n.accession = e.accession AND n.version > e.version AND n.is_revocation AND n.released_at IS NOT NULL);

-- +goose Down
DROP VIEW revoked;
DROP VIEW forgotten;
DROP VIEW lane_head;
DROP VIEW live_version;
DROP TABLE version_switch;
