-- The rest of an entry's life: the audit log, external metadata, uploads that can
-- be repeated. It is separate because stores with the schema before it exist. It
-- adds tables only, so it takes no time and may ship with others.

-- +goose Up
-- One row for each call that changed something, and for each entry that was edited
-- or deleted. What an entry's own row tells (who submitted and who approved it, and
-- when) is told there. It outlives what it names.
CREATE TABLE audit (
    number      INTEGER PRIMARY KEY,
    at          INTEGER NOT NULL,
    user_name   TEXT NOT NULL,
    action      TEXT NOT NULL,
    organism_id INTEGER,
    group_id    INTEGER,
    accession   TEXT,
    version     INTEGER,
    entries     INTEGER NOT NULL,
    detail      TEXT NOT NULL,
    CHECK ((accession IS NULL) = (version IS NULL))
) STRICT;
CREATE INDEX audit_by_entry ON audit (accession, version, number) WHERE accession IS NOT NULL;

-- One row for each updater; body is a JSON object as it came.
CREATE TABLE external_metadata (
    entry_id   INTEGER NOT NULL,
    updater    TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    user_name  TEXT NOT NULL,
    body       TEXT NOT NULL,
    PRIMARY KEY (entry_id, updater)
) STRICT, WITHOUT ROWID;

-- What an upload with an idempotency key stored; digest is of all that was asked,
-- answer is the compressed list of what was stored.
CREATE TABLE upload_key (
    user_name  TEXT NOT NULL,
    key        TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    digest     BLOB NOT NULL,
    answer     BLOB NOT NULL,
    PRIMARY KEY (user_name, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX upload_key_by_time ON upload_key (created_at);

-- +goose Down
DROP TABLE upload_key;
DROP TABLE external_metadata;
DROP TABLE audit;
