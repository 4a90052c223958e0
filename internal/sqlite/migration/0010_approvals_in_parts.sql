-- Large approvals in parts. It is separate because stores with the schema before it
-- exist. It adds two tables and replaces views, in no time, and ships alone or with
-- others: no older server runs beside it, as a store has one server.

-- +goose Up
-- A large approval notes in runs of entry ids what it takes. Once it is decided, which
-- takes no time, however many they are, the entries are released for everybody, and
-- that is written to their rows part by part; a part's runs are deleted with it.
CREATE TABLE approval (
    id          INTEGER PRIMARY KEY,
    organism_id INTEGER NOT NULL,
    approver    TEXT NOT NULL,
    released_at INTEGER -- NULL: it isn't decided
) STRICT;
CREATE TABLE approval_run (
    first_entry_id INTEGER PRIMARY KEY,
    last_entry_id  INTEGER NOT NULL,
    approval_id    INTEGER NOT NULL
) STRICT;
CREATE INDEX approval_run_by_approval ON approval_run (approval_id);

-- All entries, with what is decided of their release. Mostly nothing is decided that
-- isn't written, and released_at is what the row says. Who looks for entries that
-- aren't released asks for row_released_at first, of which there is an index.
CREATE VIEW known_entry AS
SELECT e.id, e.accession, e.version, e.organism_id, e.group_id, e.submission_id, e.submitter, e.submitted_at,
       e.is_revocation, e.revision, e.released_at AS row_released_at,
       CASE WHEN e.released_at IS NULL AND EXISTS (SELECT 1 FROM approval AS made WHERE made.released_at IS NOT NULL)
            THEN (SELECT a.released_at
                  FROM (SELECT r.last_entry_id, r.approval_id FROM approval_run AS r
                        WHERE r.first_entry_id <= e.id
                        ORDER BY r.first_entry_id DESC LIMIT 1) AS run
                  CROSS JOIN approval AS a ON a.id = run.approval_id
                  WHERE run.last_entry_id >= e.id)
            ELSE e.released_at
       END AS released_at,
       CASE WHEN e.released_at IS NULL AND EXISTS (SELECT 1 FROM approval AS made WHERE made.released_at IS NOT NULL)
            THEN (SELECT a.approver
                  FROM (SELECT r.last_entry_id, r.approval_id FROM approval_run AS r
                        WHERE r.first_entry_id <= e.id
                        ORDER BY r.first_entry_id DESC LIMIT 1) AS run
                  CROSS JOIN approval AS a ON a.id = run.approval_id
                  WHERE run.last_entry_id >= e.id AND a.released_at IS NOT NULL)
            ELSE e.approver
       END AS approver
FROM entry AS e;

-- The entries of uploads that are complete, and that aren't deleted; mostly no upload
-- or deletion is under way.
DROP VIEW published_entry;
CREATE VIEW published_entry AS
SELECT e.id, e.accession, e.version, e.organism_id, e.group_id, e.submission_id, e.submitter, e.submitted_at,
       e.is_revocation, e.revision, e.row_released_at, e.released_at
FROM known_entry AS e
WHERE NOT EXISTS (SELECT 1 FROM upload_run)
   OR e.id > coalesce((SELECT p.last_entry_id * (SELECT u.hides FROM upload AS u WHERE u.id = p.upload_id)
                       FROM upload_run AS p
                       WHERE p.first_entry_id <= e.id
                       ORDER BY p.first_entry_id DESC LIMIT 1), 0);

-- Those of them that no deletion is about to take: only they get tickets.
DROP VIEW free_entry;
CREATE VIEW free_entry AS
SELECT e.id, e.accession, e.version, e.organism_id, e.group_id, e.submission_id, e.submitter, e.submitted_at,
       e.is_revocation, e.revision
FROM entry AS e
WHERE e.id > coalesce((SELECT p.last_entry_id FROM upload_run AS p WHERE p.first_entry_id <= e.id
                       ORDER BY p.first_entry_id DESC LIMIT 1), 0);

-- The entries with what the queue says of the current pipeline version: the outcome of
-- the present revision's result, else the end of the lease that holds the entry (which
-- may have passed).
DROP VIEW entry_state;
CREATE VIEW entry_state AS
SELECT e.id, e.accession, e.version, e.organism_id, e.group_id, e.submission_id, e.submitter, e.submitted_at,
       e.is_revocation, e.revision, e.row_released_at, e.released_at, r.outcome, l.lease_until
FROM published_entry AS e
JOIN organism AS o ON o.id = e.organism_id
LEFT JOIN result AS r
    ON r.pipeline_version = o.current_pipeline_version AND r.entry_id = e.id AND r.revision = e.revision
LEFT JOIN leased AS d ON d.pipeline_version = o.current_pipeline_version AND d.entry_id = e.id
LEFT JOIN lease AS l ON l.attempt_id = d.attempt_id;

-- Entries of accessions that a released revocation took back.
DROP VIEW revoked;
CREATE VIEW revoked AS
SELECT e.id AS entry_id
FROM entry AS e
WHERE EXISTS (SELECT 1 FROM known_entry AS n
              WHERE n.accession = e.accession AND n.version > e.version AND n.is_revocation AND n.released_at IS NOT NULL);
