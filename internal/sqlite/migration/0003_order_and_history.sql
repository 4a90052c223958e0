-- The order of work (L9, L17), the history of attempts, quarantine and pauses. It
-- is separate because stores with the schema before it exist. It copies the
-- tickets, which takes seconds for a million of them, and ships alone or with
-- others: no older server runs beside it, as a store has one server. Leases that
-- run go on.

-- +goose Up
ALTER TABLE organism ADD COLUMN paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1));
ALTER TABLE pipeline_version ADD COLUMN paused INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1));

-- What was cut from a lease other than by its worker (L7). It lives as long as the
-- lease, and is read when the lease is renewed. Kept in the row of the lease it
-- would be read with it for each of its entries.
CREATE TABLE lost (
    attempt_id BLOB NOT NULL,
    accession  TEXT NOT NULL,
    version    INTEGER NOT NULL,
    PRIMARY KEY (attempt_id, accession, version)
) STRICT, WITHOUT ROWID;
-- +goose StatementBegin
CREATE TRIGGER lost_with_lease AFTER DELETE ON lease
BEGIN
    DELETE FROM lost WHERE attempt_id = OLD.attempt_id;
END;
-- +goose StatementEnd

-- Waiting entries in the order of work. A ticket belongs to an entry that
-- everybody sees: what an upload under way will add has none yet.
ALTER TABLE ticket RENAME TO ticket_without_lane;
CREATE TABLE ticket (
    organism_id      INTEGER NOT NULL,
    pipeline_version INTEGER NOT NULL,
    lane             INTEGER NOT NULL CHECK (lane BETWEEN 0 AND 4),
    rank             INTEGER NOT NULL, -- lanes 0 and 1: fair order (L17); others: when it came, in microseconds since 1970
    entry_id         INTEGER NOT NULL,
    attempts         INTEGER NOT NULL DEFAULT 0,
    hand_outs        INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (organism_id, pipeline_version, lane, rank, entry_id)
) STRICT, WITHOUT ROWID;

-- Tickets of a large upload that aren't written out yet. Entries that are stored
-- part by part are hidden by their run of entry ids; were their tickets stored
-- with them, a claim would have to wade through a million of them, as other
-- groups' ranks interleave with theirs. So publishing turns each run of ids into
-- one row here, whatever its length, and claims write out the tickets of the next
-- ranks as they come to them. A run stands for a ticket in lane 0 with 0 attempts
-- of each of its entries that has neither a ticket, nor a lease, nor a present
-- result; the k-th id from first_entry_id has the rank + k.
CREATE TABLE ticket_run (
    pipeline_version INTEGER NOT NULL,
    first_entry_id   INTEGER NOT NULL,
    last_entry_id    INTEGER NOT NULL,
    organism_id      INTEGER NOT NULL,
    rank             INTEGER NOT NULL,
    PRIMARY KEY (pipeline_version, first_entry_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX ticket_run_in_order ON ticket_run (organism_id, pipeline_version, rank);

-- The last rank given to each group in a lane (L17); group 0 has the largest of
-- all. One writer writes them, so they are hot for nobody.
CREATE TABLE turn (
    organism_id      INTEGER NOT NULL,
    pipeline_version INTEGER NOT NULL,
    lane             INTEGER NOT NULL,
    group_id         INTEGER NOT NULL,
    last_rank        INTEGER NOT NULL,
    PRIMARY KEY (organism_id, pipeline_version, lane, group_id)
) STRICT, WITHOUT ROWID;

-- As if every group had begun to submit at the same time. The lanes are those of
-- the default bounds. Attempts were made among others until here, so they condemn
-- nobody: each entry has at least one left, alone (L9). Uploads that never were
-- complete are removed anyway.
INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id, attempts, hand_outs)
SELECT t.organism_id, t.pipeline_version,
       CASE WHEN t.attempts >= 3 OR t.hand_outs - t.attempts >= 25 THEN 3
            WHEN t.attempts > 0 THEN 2
            ELSE 0
       END,
       row_number() OVER (PARTITION BY t.organism_id, t.pipeline_version, e.group_id ORDER BY t.entry_id),
       t.entry_id, min(t.attempts, 4), min(t.attempts, 4) + min(t.hand_outs - t.attempts, 49)
FROM ticket_without_lane AS t
JOIN published_entry AS e ON e.id = t.entry_id
WHERE NOT EXISTS (SELECT 1 FROM leased AS d WHERE d.pipeline_version = t.pipeline_version AND d.entry_id = t.entry_id);
DROP TABLE ticket_without_lane;
CREATE UNIQUE INDEX ticket_by_entry ON ticket (pipeline_version, entry_id);

INSERT INTO turn (organism_id, pipeline_version, lane, group_id, last_rank)
SELECT t.organism_id, t.pipeline_version, 0, e.group_id, max(t.rank)
FROM ticket AS t
JOIN entry AS e ON e.id = t.entry_id
GROUP BY t.organism_id, t.pipeline_version, e.group_id
UNION ALL
SELECT t.organism_id, t.pipeline_version, 0, 0, max(t.rank)
FROM ticket AS t
GROUP BY t.organism_id, t.pipeline_version;

DROP VIEW published_run;

-- Every claim, slice by slice, with what it took: the history of attempts. The
-- bounds of the ids find the claims of an entry.
CREATE TABLE claim_record (
    id               INTEGER PRIMARY KEY,
    attempt_id       BLOB NOT NULL,
    organism_id      INTEGER NOT NULL,
    pipeline_version INTEGER NOT NULL,
    claimed_at       INTEGER NOT NULL,
    lease_seconds    INTEGER NOT NULL, -- as claimed
    claimed_by       TEXT NOT NULL,
    worker_id        TEXT NOT NULL,
    entries          INTEGER NOT NULL,
    first_entry_id   INTEGER NOT NULL,
    last_entry_id    INTEGER NOT NULL,
    entry_ids        TEXT NOT NULL, -- JSON, in claim order
    attempts         TEXT NOT NULL  -- JSON, of each of them
) STRICT;
CREATE INDEX claim_record_by_attempt ON claim_record (attempt_id);
CREATE INDEX claim_record_by_entries ON claim_record (organism_id, last_entry_id, first_entry_id);
CREATE INDEX claim_record_by_start ON claim_record (claimed_at);

INSERT INTO claim_record (attempt_id, organism_id, pipeline_version, claimed_at, lease_seconds, claimed_by, worker_id, entries,
                          first_entry_id, last_entry_id, entry_ids, attempts)
SELECT l.attempt_id, l.organism_id, l.pipeline_version, l.claimed_at, l.lease_seconds, l.claimed_by, l.worker_id, count(*),
       min(d.entry_id), max(d.entry_id), json_group_array(d.entry_id ORDER BY d.position),
       json_group_array(d.attempts ORDER BY d.position)
FROM lease AS l
JOIN leased AS d ON d.attempt_id = l.attempt_id
GROUP BY l.attempt_id;

UPDATE leased SET attempts = min(attempts, 4), hand_outs = min(attempts, 4) + min(hand_outs - attempts, 49)
WHERE attempts > 4 OR hand_outs - attempts > 49;

-- What went wrong with an entry.
CREATE TABLE failure (
    id               INTEGER PRIMARY KEY,
    entry_id         INTEGER NOT NULL,
    revision         INTEGER NOT NULL,
    pipeline_version INTEGER NOT NULL,
    organism_id      INTEGER NOT NULL,
    at               INTEGER NOT NULL, -- of a lease that ran out: its end
    attempt_id       BLOB NOT NULL,
    kind             TEXT NOT NULL CHECK (kind IN ('expired', 'given-back', 'undelivered', 'refused', 'freed', 'damaged')),
    worker_id        TEXT NOT NULL,
    claimed_by       TEXT NOT NULL,
    counted          INTEGER NOT NULL CHECK (counted IN (0, 1)),
    reason           TEXT NOT NULL
) STRICT;
CREATE INDEX failure_by_entry ON failure (entry_id, at);
CREATE INDEX failure_by_time ON failure (at);

-- Entries whose attempts are used up, or that an operator put here (L9). The
-- result that says so has the attempt id of the row; a good result stays instead.
CREATE TABLE quarantine (
    pipeline_version INTEGER NOT NULL,
    entry_id         INTEGER NOT NULL,
    organism_id      INTEGER NOT NULL,
    revision         INTEGER NOT NULL,
    at               INTEGER NOT NULL,
    put_by           TEXT NOT NULL, -- empty: the attempts were used up
    attempts         INTEGER NOT NULL,
    hand_outs        INTEGER NOT NULL,
    attempt_id       BLOB NOT NULL,
    reason           TEXT NOT NULL,
    PRIMARY KEY (pipeline_version, entry_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX quarantine_in_order ON quarantine (organism_id, entry_id);

CREATE INDEX result_with_errors ON result (pipeline_version, entry_id) WHERE outcome = 'HAS_ERRORS';

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
FROM pipeline_version AS p
CROSS JOIN (SELECT 0 AS value UNION ALL SELECT 1) AS n;

-- Entries for which a live version has neither ticket, nor lease, nor a result of
-- the present revision (L1, V4).
CREATE VIEW forgotten AS
SELECT e.id AS entry_id, p.organism_id, p.version AS pipeline_version
FROM published_entry AS e
JOIN pipeline_version AS p ON p.organism_id = e.organism_id
WHERE NOT e.is_revocation
  AND NOT EXISTS (SELECT 1 FROM ticket AS t WHERE t.pipeline_version = p.version AND t.entry_id = e.id)
  AND NOT EXISTS (SELECT 1 FROM leased AS d WHERE d.pipeline_version = p.version AND d.entry_id = e.id)
  AND NOT EXISTS (SELECT 1 FROM result AS r WHERE r.pipeline_version = p.version AND r.entry_id = e.id AND r.revision = e.revision)
  AND e.id > coalesce((SELECT u.last_entry_id FROM ticket_run AS u
                       WHERE u.pipeline_version = p.version AND u.first_entry_id <= e.id
                       ORDER BY u.first_entry_id DESC LIMIT 1), 0);
