-- The rest of an entry's life: the audit log, first versions of edited data,
-- external metadata, uploads that can be repeated.
-- Why separate: databases of the schema before it hold data. It adds tables that
-- older servers don't know and don't need: they may run beside it, and it may ship
-- in the same release as the migrations before it. What older servers do isn't in
-- the audit log, and data that they edit isn't kept.
--
-- audit: one row for each call that changed something, and for each entry that was
-- edited or deleted. What an entry's own row tells (who submitted and who approved
-- it, and when) is told there. It has no foreign keys: it outlives what it names.
-- original_submission: what was submitted first, of entries that were edited.
-- external_metadata: one row for each updater; body is a JSON object as it came.
-- upload_key: what an upload with an idempotency key stored; digest is of all that
-- was asked, answer is the compressed list of what was stored.

-- +goose Up
CREATE TABLE audit (
    number      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at          timestamptz NOT NULL DEFAULT now(),
    version     bigint,
    group_id    bigint,
    entries     bigint NOT NULL,
    organism_id int,
    user_name   text COLLATE "C" NOT NULL,
    action      text COLLATE "C" NOT NULL,
    accession   text COLLATE "C",
    detail      text NOT NULL,
    CHECK ((accession IS NULL) = (version IS NULL))
);
CREATE INDEX audit_entry ON audit (accession, version, number) WHERE accession IS NOT NULL;

CREATE TABLE original_submission (
    entry_id      bigint PRIMARY KEY,
    dictionary_id bigint NOT NULL,
    submitted     bytea NOT NULL
);
ALTER TABLE original_submission ALTER COLUMN submitted SET STORAGE EXTERNAL;

CREATE TABLE external_metadata (
    entry_id   bigint NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    updater    text COLLATE "C" NOT NULL,
    user_name  text COLLATE "C" NOT NULL,
    body       text NOT NULL,
    PRIMARY KEY (entry_id, updater)
);

CREATE TABLE upload_key (
    user_name  text COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    digest     bytea NOT NULL CHECK (octet_length(digest) = 32),
    answer     bytea NOT NULL,
    PRIMARY KEY (user_name, key)
);
ALTER TABLE upload_key ALTER COLUMN answer SET STORAGE EXTERNAL;
CREATE INDEX upload_key_time ON upload_key (created_at);

-- +goose Down
DROP TABLE upload_key, external_metadata, original_submission, audit;
