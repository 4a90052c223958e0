-- Backfills of pipeline versions that registered themselves (V2, V3). It is
-- separate because stores with the schema before it exist. It adds one table, in no
-- time, and ships alone or with others: no older server runs beside it, as a store
-- has one server.

-- +goose Up
-- A row for each version whose backfill isn't complete: all entries up to this one,
-- by accession version, have been looked at.
CREATE TABLE backfill (
    organism_id      INTEGER NOT NULL,
    pipeline_version INTEGER NOT NULL,
    after_accession  TEXT NOT NULL DEFAULT '',
    after_version    INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (organism_id, pipeline_version)
) STRICT, WITHOUT ROWID;
