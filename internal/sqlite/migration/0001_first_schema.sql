-- The first schema: organisms, groups, entries, and the queue as ticket, lease
-- and result. It stands alone because nothing came before it.
--
-- Text is compared byte for byte (BINARY, SQLite's default collation). Instants
-- are microseconds since 1970 in UTC, read from the clock view: SQLite's own
-- clock, which has steps of a millisecond. No foreign keys on the queue's
-- tables: they would cost an index each, and every entry is deleted together
-- with all that belongs to it in one place.

-- +goose Up
CREATE TABLE dictionary (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    digest BLOB NOT NULL UNIQUE,
    bytes  BLOB NOT NULL
) STRICT;

CREATE TABLE organism (
    id                       INTEGER PRIMARY KEY,
    key                      TEXT NOT NULL UNIQUE,
    current_pipeline_version INTEGER NOT NULL DEFAULT 1,
    dictionary_id            INTEGER NOT NULL -- 0: none
) STRICT;

-- The live versions of the organisms' pipelines.
CREATE TABLE pipeline_version (
    organism_id   INTEGER NOT NULL REFERENCES organism (id),
    version       INTEGER NOT NULL,
    registered_at INTEGER NOT NULL,
    PRIMARY KEY (organism_id, version)
) STRICT, WITHOUT ROWID;

-- What has changed: scope 0 counts changes of what is released, any other scope
-- additions to the queue of that pipeline version. The nonce tells a restored
-- database from the one that it was copied from.
CREATE TABLE change (
    organism_id INTEGER NOT NULL REFERENCES organism (id),
    scope       INTEGER NOT NULL,
    n           INTEGER NOT NULL DEFAULT 0,
    nonce       BLOB NOT NULL DEFAULT (randomblob(8)),
    PRIMARY KEY (organism_id, scope)
) STRICT, WITHOUT ROWID;

CREATE TABLE submitting_group (
    id            INTEGER PRIMARY KEY,
    group_name    TEXT NOT NULL,
    institution   TEXT NOT NULL,
    line1         TEXT NOT NULL,
    line2         TEXT NOT NULL,
    city          TEXT NOT NULL,
    state         TEXT NOT NULL,
    postal_code   TEXT NOT NULL,
    country       TEXT NOT NULL,
    contact_email TEXT NOT NULL
) STRICT;

CREATE TABLE group_member (
    group_id INTEGER NOT NULL REFERENCES submitting_group (id),
    member   TEXT NOT NULL,
    PRIMARY KEY (group_id, member)
) STRICT, WITHOUT ROWID;
CREATE INDEX group_member_by_member ON group_member (member, group_id);

-- The last ids given out: of entries, and of accessions of all organisms. None
-- is ever given out again.
CREATE TABLE counter (
    name TEXT PRIMARY KEY,
    last INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO counter (name, last) VALUES ('accession', 0), ('entry', 0);

CREATE TABLE entry (
    id            INTEGER PRIMARY KEY,
    accession     TEXT NOT NULL,
    version       INTEGER NOT NULL,
    organism_id   INTEGER NOT NULL REFERENCES organism (id),
    group_id      INTEGER NOT NULL REFERENCES submitting_group (id),
    submission_id TEXT NOT NULL,
    submitter     TEXT NOT NULL,
    submitted_at  INTEGER NOT NULL,
    is_revocation INTEGER NOT NULL DEFAULT 0 CHECK (is_revocation IN (0, 1)),
    revision      INTEGER NOT NULL DEFAULT 1, -- each edit adds 1
    released_at   INTEGER,
    approver      TEXT,
    UNIQUE (accession, version)
) STRICT;
CREATE INDEX entry_in_order ON entry (organism_id, accession, version);
CREATE INDEX entry_unreleased ON entry (organism_id, id) WHERE released_at IS NULL;

-- What was submitted: revision 1 for the archive, and the present one. Apart
-- from the entry, so that listing entries doesn't read it.
CREATE TABLE submitted (
    entry_id      INTEGER NOT NULL,
    revision      INTEGER NOT NULL,
    dictionary_id INTEGER NOT NULL,
    body          BLOB NOT NULL,
    PRIMARY KEY (entry_id, revision)
) STRICT, WITHOUT ROWID;

-- The history of each accession; the newest counts. It outlives the entries.
CREATE TABLE data_use_terms (
    accession        TEXT NOT NULL,
    change_number    INTEGER NOT NULL,
    changed_at       INTEGER NOT NULL,
    changed_by       TEXT NOT NULL,
    terms            TEXT NOT NULL CHECK (terms IN ('OPEN', 'RESTRICTED')),
    restricted_until TEXT, -- YYYY-MM-DD
    PRIMARY KEY (accession, change_number)
) STRICT, WITHOUT ROWID;

-- Uploads under way (L1): their entries are stored part by part, in runs of
-- entry ids, with their tickets. Nobody sees either until the runs are deleted,
-- which takes no time, however large the upload is.
CREATE TABLE upload (
    id          INTEGER PRIMARY KEY,
    organism_id INTEGER NOT NULL REFERENCES organism (id),
    started_at  INTEGER NOT NULL
) STRICT;
CREATE TABLE upload_run (
    first_entry_id INTEGER PRIMARY KEY,
    last_entry_id  INTEGER NOT NULL,
    upload_id      INTEGER NOT NULL REFERENCES upload (id)
) STRICT;
CREATE INDEX upload_run_by_upload ON upload_run (upload_id);

-- Waiting entries, in the order of work. Those in the run of an upload under way
-- don't count yet.
CREATE TABLE ticket (
    organism_id      INTEGER NOT NULL,
    pipeline_version INTEGER NOT NULL,
    entry_id         INTEGER NOT NULL,
    attempts         INTEGER NOT NULL DEFAULT 0,
    hand_outs        INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (organism_id, pipeline_version, entry_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE lease (
    attempt_id       BLOB PRIMARY KEY,
    organism_id      INTEGER NOT NULL,
    pipeline_version INTEGER NOT NULL,
    lease_until      INTEGER NOT NULL,
    lease_seconds    INTEGER NOT NULL,
    claimed_at       INTEGER NOT NULL,
    claimed_by       TEXT NOT NULL,
    worker_id        TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX lease_by_end ON lease (organism_id, pipeline_version, lease_until);

-- The entries of the leases. The key makes two holders impossible.
CREATE TABLE leased (
    pipeline_version INTEGER NOT NULL,
    entry_id         INTEGER NOT NULL,
    attempt_id       BLOB NOT NULL,
    position         INTEGER NOT NULL, -- in the claim, from 0
    revision         INTEGER NOT NULL,
    attempts         INTEGER NOT NULL,
    hand_outs        INTEGER NOT NULL,
    PRIMARY KEY (pipeline_version, entry_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX leased_by_attempt ON leased (attempt_id, position);

-- A result counts only while its revision is the entry's.
CREATE TABLE result (
    pipeline_version INTEGER NOT NULL,
    entry_id         INTEGER NOT NULL,
    revision         INTEGER NOT NULL,
    attempt_id       BLOB NOT NULL,
    organism_id      INTEGER NOT NULL,
    outcome          TEXT NOT NULL CHECK (outcome IN ('NO_ISSUES', 'HAS_WARNINGS', 'HAS_ERRORS')),
    digest           BLOB NOT NULL,
    dictionary_id    INTEGER NOT NULL,
    processed_at     INTEGER NOT NULL,
    body             BLOB NOT NULL,
    PRIMARY KEY (pipeline_version, entry_id)
) STRICT, WITHOUT ROWID;

-- The attempts whose entry was edited after their claim, so that a late result
-- can be told why it is refused (L10).
CREATE TABLE edited (
    entry_id   INTEGER NOT NULL,
    attempt_id BLOB NOT NULL,
    PRIMARY KEY (entry_id, attempt_id)
) STRICT, WITHOUT ROWID;

-- The one clock that decides (L11).
CREATE VIEW clock AS
SELECT CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000 AS now;

-- A word that rises in string order with each change.
CREATE VIEW change_mark AS
SELECT organism_id, scope, printf('%020d-%s', n, lower(hex(nonce))) AS mark
FROM change;

-- The entries of uploads that are complete.
CREATE VIEW published_entry AS
SELECT e.id, e.accession, e.version, e.organism_id, e.group_id, e.submission_id, e.submitter, e.submitted_at,
       e.is_revocation, e.revision, e.released_at
FROM entry AS e
WHERE e.id > coalesce((SELECT p.last_entry_id FROM upload_run AS p WHERE p.first_entry_id <= e.id
                       ORDER BY p.first_entry_id DESC LIMIT 1), 0);

-- The runs of entry ids between those of uploads under way, bounds excluded.
CREATE VIEW published_run AS
SELECT b.after_id, b.before_id
FROM (SELECT coalesce(lag(u.last_entry_id) OVER (ORDER BY u.first_entry_id), 0) AS after_id, u.first_entry_id AS before_id
      FROM upload_run AS u
      UNION ALL
      SELECT coalesce(max(u.last_entry_id), 0), 9223372036854775807 FROM upload_run AS u) AS b
WHERE b.after_id + 1 < b.before_id;

-- The entries with what the queue says of the current pipeline version: the
-- outcome of the present revision's result, else the end of the lease that
-- holds the entry (which may have passed).
CREATE VIEW entry_state AS
SELECT e.id, e.accession, e.version, e.organism_id, e.group_id, e.submission_id, e.submitter, e.submitted_at,
       e.is_revocation, e.revision, e.released_at, r.outcome, l.lease_until
FROM published_entry AS e
JOIN organism AS o ON o.id = e.organism_id
LEFT JOIN result AS r
    ON r.pipeline_version = o.current_pipeline_version AND r.entry_id = e.id AND r.revision = e.revision
LEFT JOIN leased AS d ON d.pipeline_version = o.current_pipeline_version AND d.entry_id = e.id
LEFT JOIN lease AS l ON l.attempt_id = d.attempt_id;
