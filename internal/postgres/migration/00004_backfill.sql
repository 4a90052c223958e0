-- Backfills of pipeline versions that registered themselves (V2, V3).
-- Why separate: databases of the schema before it hold data. It adds one table
-- that older servers don't know and don't need: they may run beside it, and it
-- may ship in the same release as the migrations before it.
--
-- backfill: a row for each version whose backfill isn't complete; whoever has
-- the row locked adds the next tickets. A pass looks at the entries that aren't
-- released by id (stage 0), and then at those that are by accession version
-- (stage 1): an entry only ever goes from there to here. horizon is a transaction
-- id that was given out after the registration was committed: whoever wrote to
-- entries without seeing the version has a smaller one. settled says that when the
-- pass began all of those had ended, so that its end completes the backfill.
-- passed_at is when a pass ended that wasn't settled (stage 2).

-- +goose Up
CREATE TABLE backfill (
    organism_id      int NOT NULL,
    pipeline_version bigint NOT NULL,
    horizon          xid8,
    settled          boolean NOT NULL DEFAULT false,
    stage            smallint NOT NULL DEFAULT 0 CHECK (stage BETWEEN 0 AND 2),
    after_id         bigint NOT NULL DEFAULT 0,
    after_accession  text COLLATE "C" NOT NULL DEFAULT '',
    after_version    bigint NOT NULL DEFAULT 0,
    passed_at        timestamptz,
    PRIMARY KEY (organism_id, pipeline_version)
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);

-- +goose Down
DROP TABLE backfill;
