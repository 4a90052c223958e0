-- Current versions that move (V5) and old ones that go (V7), and an index of the
-- results with errors.
-- Why separate: it runs outside a transaction, so that servers go on meanwhile, and ships with the migrations before it.
-- Servers of the release before may run beside it, but not beside servers that switch
-- versions: they give tickets to backfills of old ones. A transaction of more than
-- five seconds makes it give up: run it again. Results without errors cost nothing more.
--
-- version_switch: which version became the current one of its organism, when. The
-- first version of an organism has no row.

-- +goose NO TRANSACTION

-- +goose Up
CREATE TABLE IF NOT EXISTS version_switch (
    organism_id      int NOT NULL,
    number           bigint GENERATED ALWAYS AS IDENTITY,
    pipeline_version bigint NOT NULL,
    switched_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organism_id, number)
);
DROP INDEX CONCURRENTLY IF EXISTS result_with_errors;
CREATE INDEX CONCURRENTLY result_with_errors ON result (pipeline_version, entry_id) INCLUDE (organism_id) WHERE outcome = 2;

-- +goose Down
DROP INDEX CONCURRENTLY IF EXISTS result_with_errors;
DROP TABLE IF EXISTS version_switch;
