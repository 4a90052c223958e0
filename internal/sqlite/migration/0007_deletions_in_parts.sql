-- Large deletions in parts. It is separate because stores with the schema before it
-- exist. It adds columns to the few uploads under way, tables and views, in no time,
-- and ships alone or with others: no older server runs beside it, as a store has one
-- server.

-- +goose Up
-- A large deletion is an upload in reverse, and has runs of entry ids as one: those
-- that it is to take. As long as it doesn't hide them everybody sees the entries, and
-- no ticket comes to them any more; once it does, which takes no time, however many
-- they are, they are deleted for everybody, and their rows are removed part by part.
ALTER TABLE upload ADD COLUMN hides INTEGER NOT NULL DEFAULT 1 CHECK (hides IN (0, 1));
ALTER TABLE upload ADD COLUMN deleted_by TEXT; -- NULL: it is no deletion

-- What a deletion took out of the queue: it is put back if the deletion comes to
-- nothing. One row for each part, with its tickets as JSON: [[organism, pipeline
-- version, lane, rank, entry, attempts, hand-outs],…].
CREATE TABLE withdrawn_ticket (
    first_entry_id INTEGER PRIMARY KEY,
    upload_id      INTEGER NOT NULL,
    tickets        TEXT NOT NULL
) STRICT;
CREATE TABLE withdrawn_run (
    pipeline_version INTEGER NOT NULL,
    first_entry_id   INTEGER NOT NULL,
    last_entry_id    INTEGER NOT NULL,
    organism_id      INTEGER NOT NULL,
    rank             INTEGER NOT NULL,
    upload_id        INTEGER NOT NULL,
    PRIMARY KEY (pipeline_version, first_entry_id)
) STRICT, WITHOUT ROWID;

-- Entries that somebody edited or released while a deletion was about to take them:
-- it looks at them again before it does.
CREATE TABLE changed_entry (
    upload_id INTEGER NOT NULL,
    entry_id  INTEGER NOT NULL,
    PRIMARY KEY (upload_id, entry_id)
) STRICT, WITHOUT ROWID;
-- +goose StatementBegin
CREATE TRIGGER entry_changed AFTER UPDATE OF revision, released_at ON entry
WHEN EXISTS (SELECT 1 FROM upload_run)
BEGIN
    INSERT INTO changed_entry (upload_id, entry_id)
    SELECT p.upload_id, NEW.id
    FROM (SELECT r.upload_id, r.last_entry_id FROM upload_run AS r
          WHERE r.first_entry_id <= NEW.id
          ORDER BY r.first_entry_id DESC LIMIT 1) AS p
    WHERE p.last_entry_id >= NEW.id
    ON CONFLICT DO NOTHING;
END;
-- +goose StatementEnd

-- The entries of uploads that are complete, and that aren't deleted.
DROP VIEW published_entry;
CREATE VIEW published_entry AS
SELECT e.id, e.accession, e.version, e.organism_id, e.group_id, e.submission_id, e.submitter, e.submitted_at,
       e.is_revocation, e.revision, e.released_at
FROM entry AS e
WHERE e.id > coalesce((SELECT p.last_entry_id * (SELECT u.hides FROM upload AS u WHERE u.id = p.upload_id)
                       FROM upload_run AS p
                       WHERE p.first_entry_id <= e.id
                       ORDER BY p.first_entry_id DESC LIMIT 1), 0);

-- Those of them that no deletion is about to take: only they get tickets. What a
-- version has forgotten is among them (see the view of that name).
CREATE VIEW free_entry AS
SELECT e.id, e.accession, e.version, e.organism_id, e.group_id, e.submission_id, e.submitter, e.submitted_at,
       e.is_revocation, e.revision, e.released_at
FROM entry AS e
WHERE e.id > coalesce((SELECT p.last_entry_id FROM upload_run AS p WHERE p.first_entry_id <= e.id
                       ORDER BY p.first_entry_id DESC LIMIT 1), 0);
