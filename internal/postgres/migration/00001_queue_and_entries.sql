-- The first schema: organisms, groups, entries, and the processing queue.
-- Why separate: there is nothing before it. It creates tables only, so it may
-- run beside older servers of the same release, of which there are none.
--
-- The queue is three tables without a status column: a waiting entry has a
-- ticket, an entry in processing has a place in a lease, a processed entry has
-- a result. ticket, lease and result have no foreign keys: their rows are made
-- by joins with entry, removed with it under its lock, and a check per row would
-- cost more than the insert. Entries name their group and organism without
-- foreign keys, too, as those are never removed.
--
-- ticket: the primary key is the order of work, and as an entry has one organism
-- it also says UNIQUE (pipeline_version, entry_id): no entry waits twice.
-- Autovacuum of ticket and lease runs at a fixed number of dead rows, without
-- pauses: both stay small while millions of rows pass through.
-- Compressed documents are stored in the page, as they are (EXTERNAL,
-- toast_tuple_target): compressing them again or moving them out costs a fifth.
-- Text keys sort by bytes (COLLATE "C"), as the embedded store does.

-- +goose Up
CREATE TABLE organism (
    id              int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key             text COLLATE "C" NOT NULL UNIQUE,
    current_version bigint NOT NULL DEFAULT 1 CHECK (current_version >= 1)
);

CREATE TABLE pipeline_version (
    organism_id   int NOT NULL REFERENCES organism,
    version       bigint NOT NULL CHECK (version >= 1),
    registered_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organism_id, version)
);

-- What documents are compressed against; 0 in a row elsewhere means none.
CREATE TABLE dictionary (
    id          bigint GENERATED ALWAYS AS IDENTITY (MINVALUE 1) PRIMARY KEY,
    organism_id int NOT NULL REFERENCES organism,
    digest      bytea NOT NULL CHECK (octet_length(digest) = 32),
    bytes       bytea NOT NULL,
    UNIQUE (organism_id, digest)
);

CREATE TABLE submitting_group (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    group_name    text NOT NULL,
    institution   text NOT NULL,
    line1         text NOT NULL,
    line2         text NOT NULL,
    city          text NOT NULL,
    state         text NOT NULL,
    postal_code   text NOT NULL,
    country       text NOT NULL,
    contact_email text NOT NULL
);

CREATE TABLE group_member (
    group_id  bigint NOT NULL REFERENCES submitting_group,
    user_name text COLLATE "C" NOT NULL,
    PRIMARY KEY (group_id, user_name)
);
CREATE INDEX group_member_user ON group_member (user_name);

-- The history of an accession's terms; the row with the highest number counts.
CREATE TABLE data_use_terms (
    accession        text COLLATE "C" NOT NULL,
    number           bigint GENERATED ALWAYS AS IDENTITY,
    changed_at       timestamptz NOT NULL DEFAULT now(),
    restricted       boolean NOT NULL,
    restricted_until date,
    user_name        text NOT NULL,
    PRIMARY KEY (accession, number),
    CHECK (restricted = (restricted_until IS NOT NULL))
);

CREATE SEQUENCE accession_number;
CREATE SEQUENCE entry_id;

-- created_xid is for whoever must tell whether an entry was there when a pipeline
-- version was registered. superseded_attempts are the attempts whose place in a
-- lease or whose result an edit removed: their results are answered "edited".
CREATE TABLE entry (
    id                  bigint PRIMARY KEY,
    created_xid         xid8 NOT NULL DEFAULT pg_current_xact_id(),
    version             bigint NOT NULL CHECK (version >= 1),
    group_id            bigint NOT NULL,
    dictionary_id       bigint NOT NULL,
    submitted_at        timestamptz NOT NULL DEFAULT now(),
    released_at         timestamptz,
    organism_id         int NOT NULL,
    revision            int NOT NULL DEFAULT 1 CHECK (revision >= 1),
    is_revocation       boolean NOT NULL DEFAULT false,
    accession           text COLLATE "C" NOT NULL,
    submission_id       text COLLATE "C" NOT NULL,
    submitter           text COLLATE "C" NOT NULL,
    approver            text,
    superseded_attempts uuid[],
    submitted           bytea NOT NULL,
    UNIQUE (accession, version),
    CHECK ((released_at IS NULL) = (approver IS NULL))
) WITH (toast_tuple_target = 8160);
ALTER TABLE entry ALTER COLUMN submitted SET STORAGE EXTERNAL;
CREATE INDEX entry_group ON entry (organism_id, group_id);
CREATE INDEX entry_released ON entry (organism_id, accession, version) WHERE released_at IS NOT NULL;
CREATE INDEX entry_unreleased ON entry (organism_id, id) WHERE released_at IS NULL;

CREATE TABLE ticket (
    organism_id      int NOT NULL,
    pipeline_version bigint NOT NULL,
    entry_id         bigint NOT NULL,
    attempts         smallint NOT NULL DEFAULT 0,
    hand_outs        int NOT NULL DEFAULT 0,
    PRIMARY KEY (organism_id, pipeline_version, entry_id),
    CHECK (attempts >= 0 AND hand_outs >= attempts)
) WITH (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);

-- A claim: one row for each 1,000 entries. The arrays are parallel and in claim
-- order; positions count from 0 within the part as claimed, so that they tell
-- where an entry stood after others were cut out.
CREATE TABLE lease (
    attempt_id       uuid NOT NULL,
    part             int NOT NULL CHECK (part >= 0),
    organism_id      int NOT NULL,
    pipeline_version bigint NOT NULL,
    lease_until      timestamptz NOT NULL,
    claimed_at       timestamptz NOT NULL DEFAULT now(),
    lease_seconds    int NOT NULL CHECK (lease_seconds > 0),
    claimed_by       text NOT NULL,
    worker_id        text NOT NULL,
    entry_ids        bigint[] NOT NULL,
    positions        smallint[] NOT NULL,
    revisions        int[] NOT NULL,
    attempts         smallint[] NOT NULL,
    hand_outs        int[] NOT NULL,
    PRIMARY KEY (attempt_id, part),
    CHECK (cardinality(entry_ids) BETWEEN 1 AND 1000),
    CHECK (cardinality(positions) = cardinality(entry_ids) AND cardinality(revisions) = cardinality(entry_ids)
        AND cardinality(attempts) = cardinality(entry_ids) AND cardinality(hand_outs) = cardinality(entry_ids)),
    CHECK (array_position(entry_ids, NULL) IS NULL AND array_position(revisions, NULL) IS NULL
        AND array_position(attempts, NULL) IS NULL AND array_position(hand_outs, NULL) IS NULL
        AND array_position(positions, NULL) IS NULL)
) WITH (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX lease_end ON lease (organism_id, pipeline_version, lease_until);

-- outcome: 0 no issues, 1 warnings, 2 errors. attempt_id and digest tell a
-- repeated submission from a different one, claimed_by_sum (CRC-32 of the user's
-- name) one by another user.
CREATE TABLE result (
    pipeline_version bigint NOT NULL,
    entry_id         bigint NOT NULL,
    attempt_id       uuid NOT NULL,
    dictionary_id    bigint NOT NULL,
    processed_at     timestamptz NOT NULL,
    organism_id      int NOT NULL,
    revision         int NOT NULL,
    claimed_by_sum   int NOT NULL,
    outcome          smallint NOT NULL CHECK (outcome BETWEEN 0 AND 2),
    digest           bytea NOT NULL CHECK (octet_length(digest) = 16),
    body             bytea NOT NULL,
    PRIMARY KEY (pipeline_version, entry_id)
) WITH (toast_tuple_target = 8160);
ALTER TABLE result ALTER COLUMN body SET STORAGE EXTERNAL;

-- Change counters, 16 for each scope so that writers rarely meet: the writer's
-- last statement adds 1 to that of its back end. Scope 0 is the released data of
-- the organism, scope n > 0 the queue of its pipeline version n. The nonce
-- changes with each count, so that marks don't repeat after a restore.
CREATE TABLE change (
    organism_id int NOT NULL,
    scope       bigint NOT NULL CHECK (scope >= 0),
    bucket      smallint NOT NULL CHECK (bucket BETWEEN 0 AND 15),
    n           bigint NOT NULL DEFAULT 0,
    nonce       bigint NOT NULL,
    PRIMARY KEY (organism_id, scope, bucket)
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);

-- +goose Down
DROP TABLE change, result, lease, ticket, entry, data_use_terms, group_member, submitting_group, dictionary, pipeline_version, organism;
DROP SEQUENCE entry_id, accession_number;
